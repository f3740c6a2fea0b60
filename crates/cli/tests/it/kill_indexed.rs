//! `kill -9` while rows of an indexed table are written and while its indexes are made: entries are those of the rows.

use crate::server::Server;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_postgres::{Client, SimpleQueryMessage};

/// Unless `BENNU_KILL_CYCLES` says another number.
const CYCLES: u64 = 15;
const WRITERS: u64 = 3;

fn cycles() -> u64 {
    std::env::var("BENNU_KILL_CYCLES").map_or(CYCLES, |cycles| cycles.parse().unwrap())
}

/// Rows whose INSERT was acknowledged.
type Acknowledged = Arc<Mutex<BTreeSet<u64>>>;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn entries_are_those_of_the_rows_after_each_crash() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let acknowledged = Acknowledged::default();
    let mut server = Server::start(&data);
    let client = server.connect().await;
    let table = "CREATE TABLE t (n bigint PRIMARY KEY, a bigint UNIQUE, b text, v numeric) SALT_BUCKETS = 4;
                 CREATE INDEX by_b ON t (b DESC) INCLUDE (v); CREATE INDEX by_v ON t (v, a)";
    client.batch_execute(table).await.unwrap();
    for cycle in 0..cycles() {
        let mut tasks = Vec::new();
        for writer in 0..WRITERS {
            let first = (cycle * WRITERS + writer) * 1_000_000;
            tasks.push(tokio::spawn(write(server.connect().await, first, acknowledged.clone())));
        }
        tasks.push(tokio::spawn(define(server.connect().await)));
        // Each cycle is cut at another place.
        tokio::time::sleep(Duration::from_millis(80 + cycle * 53 % 300)).await;
        server.kill();
        for task in tasks {
            task.await.unwrap();
        }
        server = Server::start(&data);
        verify(&server.connect().await, &acknowledged).await;
    }
    assert!(!acknowledged.lock().unwrap().is_empty(), "the load never got through");
}

/// Writes until the server is gone. Rows that end in 7 are the ones that stay.
async fn write(client: Client, first: u64, acknowledged: Acknowledged) {
    for n in first.. {
        let statements = [
            format!("INSERT INTO t VALUES ({n}7, {n}7, 'b{}', {n}.50)", n % 9),
            format!(
                "BEGIN; INSERT INTO t VALUES ({n}1, {n}1, 'x', 1), ({n}2, {n}2, 'y', 2);
                     UPDATE t SET a = a + 1, b = b || 'u' WHERE n = {n}1 OR n = {n}2; COMMIT"
            ),
            format!("UPSERT INTO t VALUES ({n}1, {n}8, 'z', NULL)"),
            format!("INSERT INTO t VALUES ({n}4, {n}8, 'q', 4) ON CONFLICT (a) DO UPDATE SET v = 4.0, n = excluded.n"),
            format!("DELETE FROM t WHERE n = {n}2 OR n = {}4", n.saturating_sub(3)),
        ];
        for (at, statement) in statements.iter().enumerate() {
            if client.batch_execute(statement).await.is_err() {
                return;
            }
            if at == 0 {
                acknowledged.lock().unwrap().insert(n * 10 + 7);
            }
        }
    }
}

/// Makes indexes and drops them until the server is gone.
async fn define(client: Client) {
    let statements = [
        "CREATE UNIQUE INDEX made ON t (b, n)",
        "REINDEX INDEX made",
        "DROP INDEX made",
        "REINDEX TABLE t",
        "ALTER TABLE t ADD CONSTRAINT made UNIQUE (v, n)",
        "ALTER TABLE t DROP CONSTRAINT made",
    ];
    for statement in statements.iter().cycle() {
        if let Err(error) = client.batch_execute(statement).await {
            // One of the cycle before it may be there.
            let expected = ["42P07", "42704"];
            if !error.code().is_some_and(|code| expected.contains(&code.code())) {
                return;
            }
        }
    }
}

async fn verify(client: &Client, acknowledged: &Mutex<BTreeSet<u64>>) {
    let differences = client.simple_query("CHECK TABLE t").await.unwrap();
    let rows: Vec<_> = differences.iter().filter(|it| matches!(it, SimpleQueryMessage::Row(_))).collect();
    assert!(rows.is_empty(), "{rows:?}");
    let there = client.query("SELECT n FROM t WHERE n % 10 = 7", &[]).await.unwrap();
    let there: BTreeSet<u64> = there.iter().map(|row| row.get::<_, i64>(0) as u64).collect();
    let acknowledged = acknowledged.lock().unwrap();
    let lost: Vec<_> = acknowledged.difference(&there).collect();
    assert!(lost.is_empty(), "acknowledged rows are lost: {lost:?}");
}
