//! Exported snapshots: several sessions read one state, as a parallel pg_dump does.

use crate::client::{Server, Strs as _};

#[tokio::test]
async fn a_session_reads_the_state_that_another_exported() {
    let server = Server::start(10).await;
    let mut first = server.session().await;
    let mut second = server.session().await;
    first.run("CREATE TABLE t (k integer PRIMARY KEY); INSERT INTO t VALUES (1)").await.unwrap();
    let begin = "BEGIN; SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY";
    first.run(begin).await.unwrap();
    let id = first.run("SELECT pg_catalog.pg_export_snapshot()").await.unwrap();
    second.run("INSERT INTO t VALUES (2)").await.unwrap();

    second.run(begin).await.unwrap();
    second.run(&format!("SET TRANSACTION SNAPSHOT '{id}'")).await.unwrap();
    assert_eq!(second.run("SELECT count(*) FROM t").await.strs(), Ok("1"));
    assert_eq!(first.run("SELECT count(*) FROM t").await.strs(), Ok("1"));
    second.run("COMMIT").await.unwrap();
    assert_eq!(second.run("SELECT count(*) FROM t").await.strs(), Ok("2"));

    // The snapshot ends with the transaction that exported it.
    first.run("COMMIT").await.unwrap();
    second.run(begin).await.unwrap();
    assert_eq!(second.run(&format!("SET TRANSACTION SNAPSHOT '{id}'")).await.strs(), Err("22023"));
}

#[tokio::test]
async fn an_imported_state_stays_whatever_the_block_is_told_of_its_level() {
    let server = Server::start(10).await;
    let mut first = server.session().await;
    let mut second = server.session().await;
    first.run("CREATE TABLE t (k integer PRIMARY KEY); INSERT INTO t VALUES (1)").await.unwrap();
    let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
    first.run(begin).await.unwrap();
    let id = first.run("SELECT pg_export_snapshot()").await.unwrap();
    second.run("INSERT INTO t VALUES (2)").await.unwrap();

    second.run(begin).await.unwrap();
    second.run(&format!("SET TRANSACTION SNAPSHOT '{id}'")).await.unwrap();
    second.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ").await.unwrap();
    assert_eq!(second.run("SELECT count(*) FROM t").await.strs(), Ok("1"));
    second.run("COMMIT").await.unwrap();

    second.run(begin).await.unwrap();
    second.run(&format!("SET TRANSACTION SNAPSHOT '{id}'")).await.unwrap();
    let level = second.run("SET TRANSACTION ISOLATION LEVEL READ COMMITTED").await;
    assert_eq!(level.strs(), Err("25001"));
    second.run("ROLLBACK").await.unwrap();

    // A transaction with writes exports the committed state.
    first.run("COMMIT").await.unwrap();
    first.run("CREATE TABLE ids (id text PRIMARY KEY)").await.unwrap();
    first.run("BEGIN").await.unwrap();
    first.run("INSERT INTO ids VALUES (pg_export_snapshot())").await.unwrap();
    let id = first.run("SELECT id FROM ids").await.unwrap();
    second.run(begin).await.unwrap();
    second.run(&format!("SET TRANSACTION SNAPSHOT '{id}'")).await.unwrap();
    assert_eq!(second.run("SELECT count(*) FROM ids").await.strs(), Ok("0"));
}
