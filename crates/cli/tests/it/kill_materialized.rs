//! `kill -9` while materialized views are refreshed in both ways and by their jobs: each view has all rows of one
//! refresh with their index entries, and unfinished keyspaces are removed.

use crate::server::Server;
use futures::SinkExt;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;
use tokio_postgres::{Client, SimpleQueryMessage};

/// Default of `BENNU_KILL_CYCLES`.
const CYCLES: u64 = 8;
/// Cycles per data folder: each cycle reads the rows of all earlier ones.
const IN_ONE_FOLDER: usize = 20;

fn cycles() -> u64 {
    std::env::var("BENNU_KILL_CYCLES").map_or(CYCLES, |cycles| cycles.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_view_has_the_rows_of_one_refresh_after_each_crash() {
    let all = cycles();
    for first in (0..all).step_by(IN_ONE_FOLDER) {
        views_after_crashes(first..all.min(first + IN_ONE_FOLDER as u64)).await;
    }
}

async fn views_after_crashes(cycles: Range<u64>) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut server = Server::start(&data);
    let tables = "CREATE TABLE t (k bigint PRIMARY KEY, v bigint);
        INSERT INTO t SELECT g, CASE g % 2 WHEN 0 THEN g ELSE 1 - g END FROM generate_series(0, 3999) AS s (g);
        CREATE MATERIALIZED VIEW a AS SELECT k, v FROM t;
        CREATE MATERIALIZED VIEW b AS SELECT k, v FROM t;
        CREATE MATERIALIZED VIEW c WITH (refresh = '1 second') AS SELECT sum(v) AS s, count(*) AS n FROM t;
        CREATE MATERIALIZED VIEW d WITH (incremental = true) AS SELECT k % 10 AS g, sum(v) AS s, count(*) AS n FROM t GROUP BY k % 10;
        CREATE UNIQUE INDEX ON d (g);
        CREATE INDEX ON a (v); CREATE UNIQUE INDEX ON b (k); CREATE INDEX ON b (v)";
    server.connect().await.batch_execute(tables).await.unwrap();
    for cycle in cycles {
        let statements = [
            format!("INSERT INTO t VALUES ({0}0, {0}), ({0}1, -{0})", cycle + 1_000),
            "UPDATE t SET v = v * 2 WHERE k < 1000".to_string(),
            "REFRESH MATERIALIZED VIEW a".to_string(),
            "REFRESH MATERIALIZED VIEW CONCURRENTLY b".to_string(),
            format!("UPDATE t SET v = v + 1 - 2 * (k % 2) WHERE k IN ({0}, {0} + 1)", cycle * 2),
            "REFRESH MATERIALIZED VIEW d".to_string(),
        ];
        let client = server.connect().await;
        let mut next = 1_000_000 * (cycle + 1);
        let work = tokio::spawn(async move {
            loop {
                // A load that adds its own groups.
                if copied(&client, next).await.is_err() {
                    return;
                }
                next += ROWS;
                for statement in &statements[1..] {
                    if client.batch_execute(statement).await.is_err() {
                        return;
                    }
                }
                if client.batch_execute(&statements[0]).await.is_err_and(|error| error.code().is_none()) {
                    return;
                }
            }
        });
        // Each cycle kills at another time.
        tokio::time::sleep(Duration::from_millis(150 + cycle * 97 % 500)).await;
        server.kill();
        work.await.unwrap();
        server = Server::start(&data);
        let client = server.connect().await;
        // The next refresh includes the changes from before the crash.
        client.batch_execute("REFRESH MATERIALIZED VIEW d").await.unwrap();
        let differ =
            "SELECT count(*) FROM (SELECT * FROM d EXCEPT SELECT k % 10, sum(v), count(*) FROM t GROUP BY k % 10) AS x";
        assert_eq!(one(&client, differ).await, "0", "cycle {cycle}");
        for view in ["a", "b"] {
            assert_eq!(one(&client, &format!("SELECT sum(v) FROM {view}")).await, "0", "{view}, cycle {cycle}");
            let differences = client.simple_query(&format!("CHECK TABLE {view}")).await.unwrap();
            let rows = differences.iter().filter(|it| matches!(it, SimpleQueryMessage::Row(_))).count();
            assert_eq!(rows, 0, "{view}, cycle {cycle}");
        }
        assert_eq!(one(&client, "SELECT s FROM c").await, "0", "cycle {cycle}");
        assert_eq!(
            one(&client, "SELECT count(*) FROM bennu.jobs WHERE kind = 'refresh' AND finished IS NULL").await,
            "1"
        );
    }
    // Opening the store removed what crashes had left.
    let before = keyspaces(&data);
    let client = server.connect().await;
    client.batch_execute("REFRESH MATERIALIZED VIEW a; REFRESH MATERIALIZED VIEW CONCURRENTLY b").await.unwrap();
    assert_eq!(one(&client, "SELECT count(*) FROM a").await, one(&client, "SELECT count(*) FROM t").await);
    assert!(before < 60, "{before} keyspaces are there");
}

/// Rows per COPY.
const ROWS: u64 = 200;

/// Copies rows from key `first` on, whose values add up to 0.
async fn copied(client: &Client, first: u64) -> Result<u64, tokio_postgres::Error> {
    let line = |key: u64| format!("{key}\t{}\n", if key.is_multiple_of(2) { "1" } else { "-1" });
    let sink = client.copy_in::<_, std::io::Cursor<Vec<u8>>>("COPY t FROM STDIN").await?;
    let mut sink = std::pin::pin!(sink);
    sink.send(std::io::Cursor::new((first..first + ROWS).map(line).collect::<String>().into_bytes())).await?;
    sink.finish().await
}

async fn one(client: &Client, query: &str) -> String {
    let answer = client.simple_query(query).await.unwrap();
    let row = answer.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    });
    row.unwrap_or_default().to_string()
}

fn keyspaces(data: &Path) -> usize {
    let mut count = 0;
    let mut folders = vec![data.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
            count += usize::from(folder.ends_with("keyspaces"));
            folders.push(entry.path());
        }
    }
    count
}
