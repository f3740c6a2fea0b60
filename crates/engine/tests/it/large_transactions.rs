//! Statements and transactions larger than the query memory: streamed, with writes spilled to files, and exact.

use crate::client::Client;
use engine::{Engine, EngineOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store_fjall::FjallStore;

const ROWS: u64 = 60_000;
/// The rows of a statement take several times as much.
const MEMORY: usize = 8 << 20;

struct World {
    client: Client,
    engine: Arc<Engine>,
    spill: tempfile::TempDir,
    _folder: tempfile::TempDir,
}

impl World {
    /// A table `t` of [`ROWS`] rows: k is 1, 2, …, n is 10 times k, and a long column.
    async fn new() -> Self {
        let (folder, spill) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let options = store_fjall::Options { temporary: true, ..store_fjall::Options::default() };
        let store = FjallStore::open(folder.path().join("data"), options).unwrap();
        let spill_dir = Some(spill.path().to_owned());
        let options = EngineOptions { query_threads: 2, memory_bytes: MEMORY, spill_dir, ..EngineOptions::default() };
        let engine = Engine::open(store, options).await.unwrap();
        let mut client = Client::of(&engine);
        client.ok("CREATE TABLE t (k integer PRIMARY KEY, n bigint, pad varchar)").await;
        let rows = format!("SELECT k, k * 10, repeat('x', 200) FROM generate_series(1, {ROWS}) AS g(k)");
        client.ok(&format!("INSERT INTO t {rows}")).await;
        Self { client, engine, spill, _folder: folder }
    }

    async fn run(&mut self, statement: &str) -> String {
        self.client.run(statement).await
    }

    /// Count, sum of keys and sum of n, as all sessions see them.
    async fn state(&mut self) -> String {
        self.run("SELECT count(*), sum(k), sum(n) FROM t").await.lines().next().unwrap().to_owned()
    }
}

/// The result of [`World::state`] for `count` rows from key `first` on, where n is `10 * k + more`.
fn rows_from(first: u64, count: u64, more: u64) -> String {
    let keys: u64 = (first..first + count).sum();
    format!("{count}|{keys}|{}", 10 * keys + more * count)
}

/// The files below a folder. DataFusion keeps the folders that it created.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn update_and_delete_of_more_rows_than_memory_holds_are_streamed() {
    let mut w = World::new().await;
    assert_eq!(w.run("UPDATE t SET n = n + 1").await, format!("UPDATE {ROWS}"));
    assert_eq!(w.state().await, rows_from(1, ROWS, 1));
    // A join returns a row several times; only the first counts.
    let joined = "UPDATE t SET n = n + 1 FROM generate_series(1, 3) AS g(x) WHERE k > x - 3";
    assert_eq!(w.run(joined).await, format!("UPDATE {ROWS}"));
    assert_eq!(w.state().await, rows_from(1, ROWS, 2));
    assert_eq!(w.run("DELETE FROM t WHERE k > 100").await, format!("DELETE {}", ROWS - 100));
    assert_eq!(w.state().await, rows_from(1, 100, 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_are_shifted_and_doubled_keys_are_refused() {
    let mut w = World::new().await;
    assert_eq!(w.run("UPDATE t SET k = k + 1, n = n + 10").await, format!("UPDATE {ROWS}"));
    assert_eq!(w.state().await, rows_from(2, ROWS, 0));
    let refused = w.run("UPDATE t SET k = k / 2").await;
    assert!(refused.starts_with("ERROR 23505"), "{refused}");
    assert_eq!(w.state().await, rows_from(2, ROWS, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_block_reads_its_own_spilled_writes_and_goes_back_to_savepoints() {
    let mut w = World::new().await;
    assert_eq!(w.run("BEGIN").await, "BEGIN");
    assert_eq!(w.run("UPDATE t SET n = n + 1").await, format!("UPDATE {ROWS}"));
    w.client.ok("SAVEPOINT s").await;
    w.client.ok("UPDATE t SET n = 0 WHERE k <= 10").await;
    assert_eq!(w.run("DELETE FROM t WHERE k % 2 = 0").await, format!("DELETE {}", ROWS / 2));
    assert_eq!(w.run("SELECT count(*), min(k), max(k) FROM t").await.lines().next(), Some("30000|1|59999"));
    let backwards = w.run("SELECT k, n FROM t WHERE k < 13 ORDER BY k DESC LIMIT 3").await;
    assert_eq!(backwards, "11|111\n9|0\n7|0\nSELECT 3");
    w.client.ok("ROLLBACK TO s").await;
    assert_eq!(w.state().await, rows_from(1, ROWS, 1));
    let more = format!("INSERT INTO t SELECT k + {ROWS}, n + 10 * {ROWS}, pad FROM t");
    assert_eq!(w.run(&more).await, format!("INSERT 0 {ROWS}"));
    let upsert = "INSERT INTO t SELECT k, 0, pad FROM t ON CONFLICT (k) DO UPDATE SET n = t.n + 1";
    assert_eq!(w.run(upsert).await, format!("INSERT 0 {}", 2 * ROWS));
    let mut other = Client::of(&w.engine);
    assert!(other.run("SELECT count(*), sum(n) FROM t").await.starts_with("60000|"), "others see nothing yet");
    assert_eq!(w.run("COMMIT").await, "COMMIT");
    assert_eq!(w.state().await, rows_from(1, 2 * ROWS, 2));
    assert_eq!(files_below(w.spill.path()), Vec::<PathBuf>::new(), "files are left");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rollback_and_a_failure_leave_nothing() {
    let mut w = World::new().await;
    w.client.ok("BEGIN").await;
    w.client.ok("DELETE FROM t").await;
    assert_eq!(w.run("SELECT count(*) FROM t").await, "0\nSELECT 1");
    w.client.ok("ROLLBACK").await;
    assert_eq!(w.state().await, rows_from(1, ROWS, 0));
    let failed = w.run(&format!("UPDATE t SET n = 1 / (k - {ROWS})")).await;
    assert!(failed.starts_with("ERROR 22012"), "{failed}");
    let returned = w.run("DELETE FROM t RETURNING *").await;
    assert!(returned.starts_with("ERROR 53200"), "{returned}");
    assert_eq!(w.state().await, rows_from(1, ROWS, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_spill_folder_that_is_gone_is_named_and_nothing_is_written() {
    let mut w = World::new().await;
    std::fs::remove_dir_all(w.spill.path()).unwrap();
    let failed = w.run("UPDATE t SET n = n + 1").await;
    assert!(failed.starts_with("ERROR 58030 could not write a temporary file in"), "{failed}");
    assert_eq!(w.state().await, rows_from(1, ROWS, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn others_wait_for_a_streamed_update_and_lose_no_change() {
    let w = World::new().await;
    let engine = Arc::clone(&w.engine);
    let large = tokio::spawn(async move { Client::of(&engine).run("UPDATE t SET n = n + 1").await });
    let mut other = Client::of(&w.engine);
    for _ in 0..50 {
        other.ok("UPDATE t SET n = n + 1 WHERE k = 500").await;
    }
    assert_eq!(large.await.unwrap(), format!("UPDATE {ROWS}"));
    assert_eq!(other.run("SELECT n FROM t WHERE k = 500").await, "5051\nSELECT 1");
}
