//! Tests of the appender.

use crate::session;
use bennu::arrow::array::{Int32Array, StringArray};
use bennu::arrow::datatypes::{DataType as ArrowType, Field, Schema};
use bennu::arrow::record_batch::RecordBatch;
use bennu::{Error, Session};
use std::sync::Arc;

async fn count(session: &mut Session, sql: &str) -> i64 {
    session.row::<(i64,)>(sql, &[]).await.unwrap().unwrap().0
}

#[tokio::test]
async fn rows_are_there_together_after_finish() {
    let (db, mut session) = session().await;
    session
        .execute("CREATE TABLE t (k bigint PRIMARY KEY, v varchar(5), d integer DEFAULT 7, e text DEFAULT 'a' || 'b') SALT_BUCKETS = 4")
        .await
        .unwrap();
    let mut other = db.session().unwrap();
    let mut appender = session.appender_of("t", &["v", "k"]).await.unwrap();
    assert_eq!(appender.columns()[1].name, "k");
    // Not in key order.
    for k in (0..20_000_i32).rev() {
        appender.row((format!("{}", k % 10), k)).await.unwrap();
    }
    assert_eq!(count(&mut other, "SELECT count(*) FROM t").await, 0);
    assert_eq!(appender.finish().await.unwrap(), 20_000);
    assert_eq!(count(&mut session, "SELECT count(*) FROM t WHERE v = '3' AND d = 7 AND e = 'ab'").await, 2_000);
    assert_eq!(count(&mut other, "SELECT count(*) FROM t WHERE k < 10").await, 10);
}

#[tokio::test]
async fn a_row_that_does_not_fit_undoes_the_load_and_is_named() {
    let (_db, mut session) = session().await;
    session.execute("CREATE TABLE t (k integer PRIMARY KEY, v varchar(3))").await.unwrap();
    let mut appender = session.appender("t").await.unwrap();
    appender.row((1, "abc")).await.unwrap();
    let error = appender.row((2, "abcd")).await.unwrap_err();
    assert_eq!((error.code(), error.context()), ("22001", Some("append to t, row 2")));
    assert_eq!(appender.row((3,)).await.unwrap_err().code(), "42601");
    drop(appender);
    assert_eq!(count(&mut session, "SELECT count(*) FROM t").await, 0);
    // Dropping the appender has released the table's lock.
    session.run("INSERT INTO t VALUES (1, 'x')", &[]).await.unwrap();
    let mut appender = session.appender("t").await.unwrap();
    appender.row((2, "y")).await.unwrap();
    appender.row((1, "z")).await.unwrap();
    assert_eq!(appender.finish().await.unwrap_err().code(), "23505");
    assert_eq!(count(&mut session, "SELECT count(*) FROM t").await, 1);
}

#[tokio::test]
async fn a_null_where_there_may_be_none_is_refused() {
    let (_db, mut session) = session().await;
    session.execute("CREATE TABLE t (k integer PRIMARY KEY, v text NOT NULL)").await.unwrap();
    let mut appender = session.appender("t").await.unwrap();
    assert_eq!(appender.row((1, None::<String>)).await.unwrap_err().code(), "23502");
}

#[tokio::test]
async fn a_table_without_a_key_counts_its_rows() {
    let (_db, mut session) = session().await;
    session.execute("CREATE TABLE lines (line text)").await.unwrap();
    for _ in 0..2 {
        let mut appender = session.appender("lines").await.unwrap();
        appender.row(("same",)).await.unwrap();
        appender.row(("same",)).await.unwrap();
        assert_eq!(appender.finish().await.unwrap(), 2);
    }
    assert_eq!(count(&mut session, "SELECT count(*) FROM lines").await, 4);
}

#[tokio::test]
async fn arrow_batches_of_other_arrow_types_are_taken() {
    let (_db, mut session) = session().await;
    session.execute("CREATE TABLE \"Mixed\" (k bigint PRIMARY KEY, v char(4))").await.unwrap();
    let schema = Schema::new(vec![Field::new("k", ArrowType::Int32, true), Field::new("v", ArrowType::Utf8, true)]);
    let columns: Vec<Arc<dyn bennu::arrow::array::Array>> =
        vec![Arc::new(Int32Array::from(vec![1, 2])), Arc::new(StringArray::from(vec![Some("a"), None]))];
    let batch = RecordBatch::try_new(Arc::new(schema), columns).unwrap();
    let mut appender = session.appender("\"Mixed\"").await.unwrap();
    appender.batch(&batch).await.unwrap();
    appender.finish().await.unwrap();
    let rows: Vec<(i64, Option<String>)> = session.rows("SELECT k, v FROM \"Mixed\" ORDER BY k", &[]).await.unwrap();
    assert_eq!(rows, [(1, Some("a".to_string())), (2, None)]);
}

#[tokio::test]
async fn inside_a_transaction_its_rows_go_with_it() {
    let (_db, mut session) = session().await;
    session.execute("CREATE TABLE t (k integer PRIMARY KEY)").await.unwrap();
    let done: Result<(), Error> = session
        .transaction(async |tx| {
            let mut appender = tx.appender("t").await?;
            appender.row((1,)).await?;
            assert_eq!(appender.finish().await?, 1);
            assert_eq!(count(tx, "SELECT count(*) FROM t").await, 1);
            tx.run("SELECT 1 / 0", &[]).await.map(drop)
        })
        .await;
    assert_eq!(done.unwrap_err().code(), "22012");
    assert_eq!(count(&mut session, "SELECT count(*) FROM t").await, 0);
}

#[tokio::test]
async fn names_that_are_no_table_are_refused() {
    let (_db, mut session) = session().await;
    assert_eq!(session.appender("absent").await.unwrap_err().code(), "42P01");
    assert_eq!(session.appender("t; DROP TABLE t").await.unwrap_err().code(), "42601");
    assert_eq!(session.appender("(SELECT 1)").await.unwrap_err().code(), "42601");
    session.execute("CREATE TABLE t (k integer PRIMARY KEY)").await.unwrap();
    assert_eq!(session.appender_of("t", &["x"]).await.unwrap_err().code(), "42703");
}
