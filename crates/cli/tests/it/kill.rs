//! `kill -9` under load, also during COPY: acknowledged statements are durable, and each other statement is applied
//! as a whole or not at all.

use crate::server::Server;
use futures::SinkExt;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_postgres::Client;

/// Default of `BENNU_KILL_CYCLES`.
const CYCLES: u64 = 40;
/// Cycles per data folder: each cycle reads the rows of all earlier ones.
const IN_ONE_FOLDER: usize = 40;
const WRITERS: u64 = 4;
/// Rows of one INSERT and of one COPY.
const ROWS: i64 = 3;
const COPY_ROWS: i64 = 2_000;

fn cycles() -> u64 {
    std::env::var("BENNU_KILL_CYCLES").map_or(CYCLES, |cycles| cycles.parse().unwrap())
}

/// Numbers of the acknowledged statements.
#[derive(Default)]
struct Acknowledged {
    inserts: BTreeSet<i64>,
    copies: BTreeSet<i64>,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_statements_survive_and_others_are_all_or_nothing() {
    let all = cycles();
    for first in (0..all).step_by(IN_ONE_FOLDER) {
        statements_after_crashes(first..all.min(first + IN_ONE_FOLDER as u64)).await;
    }
}

async fn statements_after_crashes(cycles: Range<u64>) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let acknowledged = Arc::new(Mutex::new(Acknowledged::default()));
    let mut server = Server::start(&data);
    let client = server.connect().await;
    let tables = "CREATE TABLE written (n bigint, part integer, filler text, PRIMARY KEY (n, part)) SALT_BUCKETS = 4;
                  CREATE TABLE copied (n bigint, part integer, filler text, PRIMARY KEY (n, part))";
    client.batch_execute(tables).await.unwrap();
    for cycle in cycles {
        let mut tasks = Vec::new();
        for writer in 0..WRITERS {
            let client = server.connect().await;
            let first = (cycle * WRITERS + writer) as i64 * 1_000_000;
            tasks.push(tokio::spawn(insert(client, first, acknowledged.clone())));
        }
        tasks.push(tokio::spawn(copy(server.connect().await, cycle as i64 * 1_000_000, acknowledged.clone())));
        // Each cycle kills at another time.
        tokio::time::sleep(Duration::from_millis(60 + cycle * 37 % 300)).await;
        server.kill();
        for task in tasks {
            task.await.unwrap();
        }
        server = Server::start(&data);
        verify(&server.connect().await, &acknowledged).await;
    }
    let acknowledged = acknowledged.lock().unwrap();
    assert!(!acknowledged.inserts.is_empty() && !acknowledged.copies.is_empty(), "the load never got through");
}

/// Inserts until the server is killed.
async fn insert(client: Client, first: i64, acknowledged: Arc<Mutex<Acknowledged>>) {
    for n in first.. {
        let values: Vec<String> = (0..ROWS).map(|part| format!("({n}, {part}, 'row {n}')")).collect();
        let done = client.batch_execute(&format!("INSERT INTO written VALUES {}", values.join(", "))).await;
        if done.is_err() {
            return;
        }
        acknowledged.lock().unwrap().inserts.insert(n);
    }
}

async fn copy(client: Client, first: i64, acknowledged: Arc<Mutex<Acknowledged>>) {
    for n in first.. {
        if copy_once(&client, n).await.is_err() {
            return;
        }
        acknowledged.lock().unwrap().copies.insert(n);
    }
}

async fn copy_once(client: &Client, n: i64) -> Result<(), tokio_postgres::Error> {
    let sink = client.copy_in::<_, std::io::Cursor<Vec<u8>>>("COPY copied FROM STDIN (FORMAT csv)").await?;
    let mut sink = std::pin::pin!(sink);
    for start in (0..COPY_ROWS).step_by(100) {
        let lines: String = (start..start + 100).map(|part| format!("{n},{part},copied {n}\n")).collect();
        sink.send(std::io::Cursor::new(lines.into_bytes())).await?;
    }
    sink.finish().await.map(drop)
}

async fn verify(client: &Client, acknowledged: &Mutex<Acknowledged>) {
    let inserts = found(client, "written", ROWS).await;
    let copies = found(client, "copied", COPY_ROWS).await;
    let acknowledged = acknowledged.lock().unwrap();
    let lost: Vec<_> = acknowledged.inserts.difference(&inserts).collect();
    assert!(lost.is_empty(), "acknowledged inserts are lost: {lost:?}");
    let lost: Vec<_> = acknowledged.copies.difference(&copies).collect();
    assert!(lost.is_empty(), "acknowledged copies are lost: {lost:?}");
}

/// Numbers of the statements found; each must be complete.
async fn found(client: &Client, table: &str, rows: i64) -> BTreeSet<i64> {
    let groups = client.query(&format!("SELECT n, count(*) FROM {table} GROUP BY n"), &[]).await.unwrap();
    let whole = |row: &tokio_postgres::Row| {
        let (n, count): (i64, i64) = (row.get(0), row.get(1));
        assert_eq!(count, rows, "statement {n} on {table} is torn");
        n
    };
    groups.iter().map(whole).collect()
}
