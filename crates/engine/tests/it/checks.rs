//! CHECK constraints for every statement that writes rows.

use crate::client::{Client, engine, engine_over};
use crate::copy::copy;
use store_fjall::{FjallStore, Options};
use types::Datum;

const BROKEN: &str = "ERROR 23514 new row for relation \"t\" violates check constraint \"t_b_check\"";

async fn table() -> Client {
    let mut c = Client::new().await;
    c.ok("CREATE TABLE t (a integer PRIMARY KEY, b integer DEFAULT 1 CHECK (b > 0), CHECK (b < a * 10))").await;
    c
}

#[tokio::test]
async fn the_row_and_the_constraint_are_named() {
    let mut c = table().await;
    let failed = c.run("INSERT INTO t VALUES (1, 0)").await;
    assert_eq!(failed, format!("{BROKEN}\nDETAIL Failing row contains (1, 0)."));
    let statement = c.session.parse("INSERT INTO t VALUES (1, 0)").unwrap();
    let error = c.session.run(&statement[0]).await.err().unwrap();
    let named = (error.schema(), error.table(), error.constraint());
    assert_eq!(named, (Some("public"), Some("t"), Some("t_b_check")));
}

#[tokio::test]
async fn copy_tells_the_line() {
    let mut c = table().await;
    for text in ["COPY t FROM STDIN", "COPY t (a, b) FROM STDIN"] {
        let error = copy(&mut c, text, "1\t1\n2\t0\n3\t1\n", 1000).await.unwrap_err();
        assert_eq!(error.code(), "23514");
        assert_eq!(error.context(), Some("COPY t, line 2: \"2\t0\""));
    }
    assert_eq!(copy(&mut c, "COPY t FROM STDIN", "1\t1\n2\t\\N\n3\t1\n", 1000).await.unwrap(), "COPY 3");
    c.ok("BEGIN").await;
    assert_eq!(copy(&mut c, "COPY t FROM STDIN", "4\t40\n", 1000).await.unwrap_err().code(), "23514");
    c.ok("ROLLBACK").await;
    assert_eq!(c.run("SELECT count(*), sum(b) FROM t").await, "3|2\nSELECT 1");
}

#[tokio::test]
async fn appenders_are_held_to_them() {
    let mut c = table().await;
    let mut append = c.session.append("t", &["a", "b"]).await.unwrap();
    append.row(vec![Datum::Int4(1), Datum::Int4(5)]).await.unwrap();
    let error = append.row(vec![Datum::Int4(1), Datum::Int4(-5)]).await.unwrap_err();
    assert_eq!(error.code(), "23514");
    drop(append);
    assert_eq!(c.run("SELECT count(*) FROM t").await, "0\nSELECT 1");
}

#[tokio::test]
async fn rows_that_are_loaded_in_bulk_are_held_to_them() {
    let mut c = table().await;
    let rows = "SELECT g, 1 + g % 9 FROM generate_series(1, 30000) AS s (g)";
    let failed = c.run(&format!("INSERT INTO t {rows} UNION ALL SELECT 30001, -1")).await;
    assert!(failed.starts_with(BROKEN), "{failed}");
    assert_eq!(c.run("SELECT count(*) FROM t").await, "0\nSELECT 1");
    assert_eq!(c.run(&format!("INSERT INTO t {rows}")).await, "INSERT 0 30000");
}

#[tokio::test]
async fn prepared_statements_see_constraints_that_came_later() {
    let engine = engine().await;
    let mut c = Client::of(&engine);
    c.ok("CREATE TABLE t (a integer PRIMARY KEY, b integer)").await;
    let insert = c.session.prepare("INSERT INTO t VALUES ($1, $2)", &[]).await.unwrap();
    let update = c.session.prepare("UPDATE t SET b = $2 WHERE a = $1", &[]).await.unwrap();
    let row = |a, b| vec![Datum::Int4(a), Datum::Int4(b)];
    assert_eq!(c.run_prepared(&insert, &row(1, 1)).await, "INSERT 0 1");
    Client::of(&engine).ok("ALTER TABLE t ADD CHECK (b > 0)").await;
    assert!(c.run_prepared(&insert, &row(2, 0)).await.starts_with(BROKEN));
    assert!(c.run_prepared(&update, &row(1, 0)).await.starts_with(BROKEN));
    Client::of(&engine).ok("ALTER TABLE t DROP CONSTRAINT t_b_check").await;
    assert_eq!(c.run_prepared(&update, &row(1, 0)).await, "UPDATE 1");
}

#[tokio::test]
async fn they_are_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let open = || FjallStore::open(folder.path(), Options::default()).unwrap();
    let engine = engine_over(open()).await;
    Client::of(&engine).ok("CREATE TABLE t (a integer PRIMARY KEY, b integer CHECK (b > 0))").await;
    engine.close().await.unwrap();
    drop(engine);
    let mut c = Client::of(&engine_over(open()).await);
    assert!(c.run("INSERT INTO t VALUES (1, 0)").await.starts_with(BROKEN));
    c.ok("INSERT INTO t VALUES (1, 1)").await;
}
