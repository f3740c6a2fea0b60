//! What clients hear of snapshots that are held for too long.

use bennu::{Bennu, Options};
use std::time::Duration;
use tokio_postgres::{Client, NoTls};

async fn connected(port: u16) -> Client {
    let address = format!("host=127.0.0.1 port={port} user=me dbname=bennu");
    let (client, connection) = tokio_postgres::connect(&address, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// Reads on, a few rows at a time, until there is an error: its SQLSTATE.
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
