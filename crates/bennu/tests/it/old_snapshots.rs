//! Errors of clients whose snapshots are held for too long.

use bennu::{Bennu, Options};
use std::time::Duration;
use tokio_postgres::{Client, NoTls};

async fn connected(port: u16) -> Client {
    let address = format!("host=127.0.0.1 port={port} user=me dbname=bennu");
    let (client, connection) = tokio_postgres::connect(&address, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// Fetches rows until an error, and returns its SQLSTATE.
async fn reads_until_an_error(client: &Client) -> String {
    for _ in 0..100 {
        match client.simple_query("FETCH 2000 FROM c").await {
            Ok(_) => tokio::time::sleep(Duration::from_millis(200)).await,
            Err(error) => return error.code().unwrap().code().to_string(),
        }
    }
    panic!("the cursor is at its end");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cursor_whose_snapshot_is_too_old_ends_with_an_error_and_the_session_goes_on() {
    let options = Options { snapshot_max_age: Duration::from_millis(1500), ..Options::default() };
    let db = Bennu::open_in_memory(&options).await.unwrap();
    let (server, port, stop) = crate::serve::serve(&db);
    let client = connected(port).await;
    let filled = "CREATE TABLE t (k integer PRIMARY KEY); INSERT INTO t SELECT generate_series(1, 100000)";
    client.batch_execute(filled).await.unwrap();
    client.batch_execute("BEGIN; DECLARE c CURSOR FOR SELECT k FROM t").await.unwrap();
    assert_eq!(reads_until_an_error(&client).await, "72000");
    client.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(client.query_one("SELECT count(*) FROM t", &[]).await.unwrap().get::<_, i64>(0), 100_000);
    stop.cancel();
    server.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_suspended_portal_whose_snapshot_is_too_old_ends_with_an_error_and_the_session_goes_on() {
    let options = Options { snapshot_max_age: Duration::from_millis(1500), ..Options::default() };
    let db = Bennu::open_in_memory(&options).await.unwrap();
    let (server, port, stop) = crate::serve::serve(&db);
    let mut client = connected(port).await;
    let filled = "CREATE TABLE t (k integer PRIMARY KEY); INSERT INTO t SELECT generate_series(1, 100000)";
    client.batch_execute(filled).await.unwrap();
    let block = client.transaction().await.unwrap();
    let portal = block.bind("SELECT k FROM t", &[]).await.unwrap();
    let mut ended = None;
    for _ in 0..100 {
        match block.query_portal(&portal, 2000).await {
            Ok(rows) => assert!(!rows.is_empty(), "the portal is at its end"),
            Err(error) => {
                ended = error.code().map(|code| code.code().to_owned());
                break;
            }
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert_eq!(ended.as_deref(), Some("72000"));
    block.rollback().await.unwrap();
    assert_eq!(client.query_one("SELECT count(*) FROM t", &[]).await.unwrap().get::<_, i64>(0), 100_000);
    stop.cancel();
    server.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_exported_snapshot_that_is_too_old_is_told_to_both_sessions() {
    let options = Options { snapshot_max_age: Duration::from_millis(1500), ..Options::default() };
    let db = Bennu::open_in_memory(&options).await.unwrap();
    let (server, port, stop) = crate::serve::serve(&db);
    let (first, second) = (connected(port).await, connected(port).await);
    first.batch_execute("CREATE TABLE t (k integer PRIMARY KEY); INSERT INTO t VALUES (1)").await.unwrap();
    let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
    first.batch_execute(begin).await.unwrap();
    let id: String = first.query_one("SELECT pg_export_snapshot()", &[]).await.unwrap().get(0);
    // A write makes the snapshot outdated.
    second.batch_execute("INSERT INTO t VALUES (2)").await.unwrap();
    tokio::time::sleep(Duration::from_millis(2500)).await;
    let code = |error: tokio_postgres::Error| error.code().map(|code| code.code().to_owned());
    let of_first = first.query_one("SELECT count(*) FROM t", &[]).await.map_err(code).err().flatten();
    assert_eq!(of_first.as_deref(), Some("72000"));
    second.batch_execute(begin).await.unwrap();
    let importing = format!("SET TRANSACTION SNAPSHOT '{id}'; SELECT count(*) FROM t");
    let of_second = second.batch_execute(&importing).await.map_err(code).err().flatten();
    assert_eq!(of_second.as_deref(), Some("72000"));
    for session in [&first, &second] {
        session.batch_execute("ROLLBACK").await.unwrap();
        assert_eq!(session.query_one("SELECT count(*) FROM t", &[]).await.unwrap().get::<_, i64>(0), 2);
    }
    stop.cancel();
    server.await.unwrap().unwrap();
}
