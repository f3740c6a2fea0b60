//! Statements of one pipeline of the extended protocol are one transaction.

use crate::client::{Client, engine};

async fn execute(c: &mut Client, text: &str) -> Result<(), String> {
    c.session.begin_pipeline();
    let prepared = c.session.prepare(text, &[]).await.map_err(|error| error.code().to_string())?;
    c.session.execute(&prepared, &[]).await.map(drop).map_err(|error| error.code().to_string())
}

#[tokio::test]
async fn a_pipeline_commits_at_its_end() {
    let engine = engine().await;
    let (mut a, mut b) = (Client::of(&engine), Client::of(&engine));
    a.ok("CREATE TABLE t (k integer PRIMARY KEY)").await;
    execute(&mut a, "INSERT INTO t VALUES (1)").await.unwrap();
    execute(&mut a, "INSERT INTO t VALUES (2)").await.unwrap();
    assert_eq!(b.run("SELECT count(*) FROM t").await, "0\nSELECT 1");
    a.session.sync().await.unwrap();
    assert_eq!(b.run("SELECT count(*) FROM t").await, "2\nSELECT 1");
    assert_eq!(a.session.status(), bennu_engine::TransactionStatus::Idle);
}

#[tokio::test]
async fn a_pipeline_with_an_error_leaves_nothing() {
    let mut c = Client::new().await;
    c.ok("CREATE TABLE t (k integer PRIMARY KEY)").await;
    execute(&mut c, "INSERT INTO t VALUES (1)").await.unwrap();
    assert_eq!(execute(&mut c, "INSERT INTO t VALUES (1)").await, Err("23505".to_string()));
    c.session.sync().await.unwrap();
    assert_eq!(c.run("SELECT count(*) FROM t").await, "0\nSELECT 1");
}

#[tokio::test]
async fn a_pipeline_that_begins_a_block_leaves_it_open() {
    let mut c = Client::new().await;
    c.ok("CREATE TABLE t (k integer PRIMARY KEY)").await;
    execute(&mut c, "INSERT INTO t VALUES (1)").await.unwrap();
    execute(&mut c, "BEGIN").await.unwrap();
    c.session.sync().await.unwrap();
    assert_eq!(c.session.status(), bennu_engine::TransactionStatus::InTransaction);
    c.ok("ROLLBACK").await;
    assert_eq!(c.run("SELECT count(*) FROM t").await, "0\nSELECT 1");
}
