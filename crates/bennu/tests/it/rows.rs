//! Rows, values and batches.

use crate::session;
use bennu::arrow::array::{Array, AsArray};
use bennu::arrow::datatypes::Int64Type;
use bennu::{Bennu, DataType, Datum, Row};
use std::time::{Duration, SystemTime};

#[tokio::test]
async fn values_of_each_rust_type_go_in_and_come_out() {
    let (_db, mut session) = session().await;
    session
        .execute(
            "CREATE TABLE t (k bigint PRIMARY KEY, b boolean, i integer, s smallint, f real, d double precision,
                             n numeric(10, 2), v text, y bytea, at timestamptz)",
        )
        .await
        .unwrap();
    let at = SystemTime::UNIX_EPOCH + Duration::from_micros(1_700_000_000_123_456);
    let bytes = vec![0_u8, 255];
    let price = bennu::Decimal::new(1999, 2).unwrap();
    let insert = "INSERT INTO t VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    // An i32 for a bigint: a parameter is assigned as in INSERT.
    let params: [&dyn bennu::ToValue; 10] =
        [&1_i32, &true, &-2_i32, &3_i16, &1.5_f32, &2.5_f64, &price, &"naïve", &bytes, &at];
    assert_eq!(session.run(insert, &params).await.unwrap(), 1);
    type All = (i64, bool, i64, i16, f64, f64, bennu::Decimal, String, Vec<u8>, SystemTime);
    let row: All = session.row("SELECT * FROM t", &[]).await.unwrap().unwrap();
    assert_eq!((row.0, row.1, row.2, row.3, row.4, row.5), (1, true, -2, 3, 1.5, 2.5));
    assert_eq!((row.6.unscaled, row.7.as_str(), row.8, row.9), (1999, "naïve", bytes, at));
}

#[tokio::test]
async fn arrays_and_intervals_go_in_and_come_out() {
    let (_db, mut session) = session().await;
    let table =
        "CREATE TABLE t (k bigint PRIMARY KEY, n integer[], w text[], m bigint[][], d interval, i interval(0)[])";
    session.execute(table).await.unwrap();
    let numbers = vec![Some(1_i32), None, Some(3)];
    let words = ["sea".to_owned(), "a \"b\"".to_owned()];
    let grid = vec![vec![1_i64, 2], vec![3, 4]];
    let span = bennu::Interval { months: 1, days: 2, micros: 1_600_000 };
    let insert = "INSERT INTO t VALUES ($1, $2, $3, $4, $5, $6)";
    let params: [&dyn bennu::ToValue; 6] = [&1_i64, &numbers, &words.as_slice(), &grid, &span, &vec![span]];
    assert_eq!(session.run(insert, &params).await.unwrap(), 1);
    type All = (i64, Vec<Option<i32>>, Vec<String>, Vec<Vec<i64>>, bennu::Interval, Vec<bennu::Interval>);
    let row: All = session.row("SELECT * FROM t WHERE n[3] = $1", &[&3]).await.unwrap().unwrap();
    assert_eq!((row.0, row.1, row.2.as_slice(), row.3, row.4), (1, numbers, words.as_slice(), grid, span));
    assert_eq!(row.5[0].micros, 2_000_000);
    let set = "UPDATE t SET n[$1] = $2, m[2][$1] = 9, w = $3 WHERE d = $4 RETURNING n, m, w";
    type Three = (Vec<i32>, Vec<Vec<i64>>, Vec<String>);
    let changed: Three = session.row(set, &[&2, &7, &Vec::<String>::new(), &span]).await.unwrap().unwrap();
    assert_eq!(changed, (vec![1, 7, 3], vec![vec![1, 2], vec![3, 9]], Vec::new()));
    session.run("UPDATE t SET n[2] = NULL", &[]).await.unwrap();
    let row: Row = session.row("SELECT n FROM t", &[]).await.unwrap().unwrap();
    assert_eq!(row.get::<Vec<i32>>("n").unwrap_err().code(), "42804", "one is NULL");
    let error = session.run("INSERT INTO t (k, n) VALUES (2, $1)", &[&vec![vec![1_i32]]]).await.unwrap_err();
    assert_eq!(error.code(), "0A000");
}

#[tokio::test]
async fn a_value_that_does_not_read_is_named() {
    let (_db, mut session) = session().await;
    let row: Row = session.row("SELECT NULL::int AS nothing, 'x' AS word, 1 AS a, 2 AS a", &[]).await.unwrap().unwrap();
    let error = row.get::<i32>("nothing").unwrap_err();
    assert_eq!((error.code(), error.message()), ("22002", "column \"nothing\" is NULL: read it as an Option"));
    assert_eq!(row.get::<Option<i32>>("nothing").unwrap(), None);
    let error = row.get::<i64>("word").unwrap_err();
    assert_eq!((error.code(), error.message()), ("42804", "column \"word\" holds text, which does not read as i64"));
    assert_eq!(row.get::<i64>("absent").unwrap_err().code(), "42703");
    assert_eq!(row.get::<i64>("a").unwrap_err().code(), "42702");
    assert_eq!(row.get::<i64>(9).unwrap_err().code(), "42703");
    assert_eq!(row.get::<Datum>(3).unwrap(), Datum::Int4(2));
    let error = session.rows::<(i32, i32)>("SELECT 1", &[]).await.unwrap_err();
    assert_eq!(error.code(), "42804");
}

#[tokio::test]
async fn a_parameter_that_does_not_fit_fails_the_statement_and_not_the_session() {
    let (_db, mut session) = session().await;
    assert_eq!(session.rows::<Row>("SELECT $1::smallint", &[&40_000]).await.unwrap_err().code(), "22003");
    assert_eq!(session.rows::<Row>("SELECT $1::int + $2::int", &[&1]).await.unwrap_err().code(), "42601");
    assert_eq!(session.row::<(i32,)>("SELECT $1::int", &[&7]).await.unwrap(), Some((7,)));
}

#[tokio::test]
async fn batches_come_as_they_are_made_and_say_their_sql_types() {
    let (_db, mut session) = session().await;
    let sql = "SELECT i::bigint AS i, 'x'::varchar(3) AS v FROM generate_series(1, 50000) AS g (i)";
    let mut batches = session.query(sql, &[]).await.unwrap();
    assert_eq!(batches.columns()[1].ty, DataType::Varchar(Some(3)));
    assert_eq!(batches.schema().field(1).metadata()["bennu.type"], "character varying(3)");
    let (mut sum, mut count) = (0, 0);
    while let Some(batch) = batches.next().await.unwrap() {
        assert_eq!(batch.schema(), batches.schema());
        sum += batch.column(0).as_primitive::<Int64Type>().values().iter().sum::<i64>();
        count += 1;
    }
    assert_eq!(sum, 50_000 * 50_001 / 2);
    assert!(count > 1, "all rows came at once");
}

#[tokio::test]
async fn rows_that_no_plan_made_are_batches_too() {
    let (_db, mut session) = session().await;
    session
        .execute("CREATE TABLE t (k integer PRIMARY KEY, v numeric, u uuid); INSERT INTO t VALUES (1, 1.5, NULL)")
        .await
        .unwrap();
    for sql in [
        "SELECT * FROM t WHERE k = 1",
        "UPDATE t SET v = v RETURNING *",
        "SELECT * FROM t",
        "SELECT * FROM t WHERE k = 9",
    ] {
        let batches = session.query(sql, &[]).await.unwrap();
        let schema = batches.schema();
        assert_eq!(schema.fields().len(), 3, "{sql}");
        for batch in batches.collect().await.unwrap() {
            assert_eq!((batch.schema(), batch.num_rows()), (schema.clone(), 1), "{sql}");
            assert!(batch.column(2).is_null(0));
        }
    }
    assert_eq!(session.query("CREATE SCHEMA s", &[]).await.unwrap().collect().await.unwrap().len(), 0);
}

#[tokio::test]
async fn a_prepared_statement_follows_its_table() {
    let (db, mut session) = session().await;
    session.execute("CREATE TABLE t (k integer PRIMARY KEY, v text)").await.unwrap();
    let count = session.prepare("SELECT count(*) FROM t WHERE k < $1").await.unwrap();
    assert_eq!(count.parameters(), [DataType::Integer]);
    assert_eq!(count.columns().unwrap()[0].name, "count");
    let mut other = db.session().unwrap();
    assert_eq!(other.row::<(i64,)>(&count, &[&5]).await.unwrap(), Some((0,)));
    other.execute("INSERT INTO t VALUES (1, 'a'), (7, 'b'); ALTER TABLE t ADD COLUMN w integer").await.unwrap();
    assert_eq!(session.row::<(i64,)>(&count, &[&5]).await.unwrap(), Some((1,)));
}

#[tokio::test]
async fn a_folder_keeps_its_rows_and_is_free_when_its_last_handle_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let db = Bennu::open(&path).await.unwrap();
    db.session()
        .unwrap()
        .execute("CREATE TABLE t (k integer PRIMARY KEY); INSERT INTO t VALUES (1), (2)")
        .await
        .unwrap();
    assert!(Bennu::open(&path).await.is_err(), "a folder was opened twice");
    db.close().await.unwrap();
    drop(db);
    let again = Bennu::open(&path).await.unwrap();
    assert_eq!(again.session().unwrap().row::<(i64,)>("SELECT count(*) FROM t", &[]).await.unwrap(), Some((2,)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_statement_is_cancelled_from_elsewhere() {
    let (db, mut session) = session().await;
    session.execute("CREATE TABLE t (k integer PRIMARY KEY); INSERT INTO t VALUES (1)").await.unwrap();
    let mut other = db.session().unwrap();
    other.execute("BEGIN; DELETE FROM t").await.unwrap();
    let handle = session.cancel_handle();
    let waiting = tokio::spawn(async move { session.run("DELETE FROM t WHERE k = 1", &[]).await });
    while !waiting.is_finished() {
        tokio::time::sleep(Duration::from_millis(20)).await;
        handle.cancel();
    }
    assert_eq!(waiting.await.unwrap().unwrap_err().code(), "57014");
}

#[tokio::test]
async fn errors_have_their_place() {
    let (_db, mut session) = session().await;
    let error = session.execute("SELECT 1; SELEC 2").await.unwrap_err();
    assert_eq!((error.code(), error.position()), ("42601", Some(11)));
    assert!(!error.is_retryable());
}
