//! Rust functions in SQL.

use crate::session;
use bennu::{DataType, Datum, Function, Row};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

fn twice(factor: i64) -> Function {
    Function::new("Twice", [DataType::BigInt], DataType::BigInt, move |args| match args {
        [Datum::Int8(value)] => value.checked_mul(factor).map(Datum::Int8).ok_or_else(|| "too large".to_string()),
        _ => Err("not a bigint".into()),
    })
}

#[tokio::test]
async fn a_closure_is_called_for_each_row_but_not_for_null() {
    let (db, mut session) = session().await;
    session
        .execute("CREATE TABLE t (k integer PRIMARY KEY, v integer); INSERT INTO t VALUES (1, 5), (2, NULL), (3, 7)")
        .await
        .unwrap();
    db.register(twice(2)).unwrap();
    let rows: Vec<(Option<i64>,)> = session.rows("SELECT twice(v) FROM t ORDER BY k", &[]).await.unwrap();
    assert_eq!(rows, [(Some(10),), (None,), (Some(14),)]);
    let found: Option<(i32,)> = session.row("SELECT k FROM t WHERE twice(v) = 14", &[]).await.unwrap();
    assert_eq!(found, Some((3,)));
    session.run("UPDATE t SET v = twice(v) WHERE k = 1", &[]).await.unwrap();
    assert_eq!(session.row::<(i32,)>("SELECT v FROM t WHERE k = 1", &[]).await.unwrap(), Some((10,)));
}

#[tokio::test]
async fn its_error_is_38000_with_its_words() {
    let (db, mut session) = session().await;
    db.register(twice(2)).unwrap();
    let error = session.rows::<Row>("SELECT twice(9223372036854775807)", &[]).await.unwrap_err();
    assert_eq!((error.code(), error.message()), ("38000", "function twice() failed: too large"));
    assert_eq!(session.rows::<Row>("SELECT twice('x'::bytea)", &[]).await.unwrap_err().code(), "42883");
}

#[tokio::test]
async fn one_of_the_same_name_replaces_it_and_sqls_own_stay() {
    let (db, mut session) = session().await;
    db.register(twice(2)).unwrap();
    let statement = session.prepare("SELECT twice($1::bigint)").await.unwrap();
    assert_eq!(session.row::<(i64,)>(&statement, &[&4]).await.unwrap(), Some((8,)));
    db.register(twice(3)).unwrap();
    assert_eq!(session.row::<(i64,)>("SELECT twice(4)", &[]).await.unwrap(), Some((12,)));
    for name in ["upper", "sum", "row_number"] {
        let taken = Function::new(name, [], DataType::Integer, |_| Ok(Datum::Int4(1)));
        assert_eq!(db.register(taken).unwrap_err().code(), "42723");
    }
}

#[tokio::test]
async fn a_volatile_one_is_called_every_time_and_may_see_null() {
    let (db, mut session) = session().await;
    let calls = Arc::new(AtomicU64::new(0));
    let counted = calls.clone();
    let count = Function::new("calls", [], DataType::Integer, move |_| {
        Ok(Datum::Int4(i32::try_from(counted.fetch_add(1, Ordering::Relaxed)).unwrap()))
    });
    db.register(count.volatile()).unwrap();
    let rows: Vec<(i32,)> = session.rows("SELECT calls() FROM generate_series(1, 3) AS g (i)", &[]).await.unwrap();
    assert_eq!(rows.len(), 3);
    assert_eq!(calls.load(Ordering::Relaxed), 3);
    let or_zero = Function::new("or_zero", [DataType::Integer], DataType::Integer, |args| {
        Ok(if args[0].is_null() { Datum::Int4(0) } else { args[0].clone() })
    });
    db.register(or_zero.called_on_null()).unwrap();
    assert_eq!(session.row::<(i32,)>("SELECT or_zero(NULL)", &[]).await.unwrap(), Some((0,)));
}

#[tokio::test]
async fn it_stands_in_the_catalog_until_it_is_replaced() {
    let (db, mut session) = session().await;
    db.register(twice(2)).unwrap();
    let ask = "SELECT oid::regprocedure::text, pg_get_function_result(oid), provolatile::text, proisstrict
        FROM pg_proc WHERE proname = 'twice' AND pg_function_is_visible(oid)";
    let listed: Vec<(String, String, String, bool)> = session.rows(ask, &[]).await.unwrap();
    assert_eq!(listed, [("twice(bigint)".to_string(), "bigint".to_string(), "i".to_string(), true)]);
    let oid = "SELECT 'twice'::regproc::oid::bigint";
    let before: Option<(i64,)> = session.row(oid, &[]).await.unwrap();
    db.register(twice(3).volatile()).unwrap();
    assert_eq!(session.row::<(i64,)>(oid, &[]).await.unwrap(), before);
    let listed: Vec<(String, String, String, bool)> = session.rows(ask, &[]).await.unwrap();
    assert_eq!(listed.first().map(|row| row.2.as_str()), Some("v"));
}
