//! Which sessions hold snapshots of the store.

use crate::client::{Client, engine, engine_over, waiting_are};
use std::sync::Arc;
use std::time::Duration;
use store::Store;
use store_fjall::FjallStore;

fn held(store: &FjallStore) -> u64 {
    store.stats().values.into_iter().find(|(name, _)| *name == "snapshots").unwrap().1
}

/// Waits until this many snapshots are held: other threads drop theirs a moment later.
async fn until_held(store: &FjallStore, count: u64) {
    for _ in 0..200 {
        if held(store) == count {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{} are held, not {count}", held(store));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_statement_that_reads_no_table_holds_none() {
    let options = store_fjall::Options { temporary: true, ..store_fjall::Options::default() };
    let store = FjallStore::open(tempfile::tempdir().unwrap().keep(), options).unwrap();
    let engine = engine_over(Arc::clone(&store) as Arc<dyn Store>).await;
    let (mut owner, mut sleeper) = (Client::of(&engine), Client::of(&engine));
    owner.ok("CREATE TABLE t (k integer PRIMARY KEY); INSERT INTO t SELECT generate_series(1, 50000)").await;
    owner.ok("BEGIN; DECLARE c CURSOR FOR SELECT k FROM t; FETCH 1 FROM c").await;
    until_held(&store, 1).await;
    owner.ok("ROLLBACK").await;
    until_held(&store, 0).await;
    let asleep = tokio::spawn(async move { sleeper.run("SELECT pg_sleep(600)").await });
    let sleeps = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_sleep(600)'";
    while owner.run(sleeps).await != "1\nSELECT 1" {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    until_held(&store, 0).await;
    assert!(!asleep.is_finished());
    asleep.abort();
}

const TOO_OLD: &str = "ERROR 72000 snapshot too old: table \"t\" was created or rewritten after it was taken";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_state_of_before_a_rewrite_does_not_have_the_table_empty() {
    let engine = engine().await;
    let (mut owner, mut reader) = (Client::of(&engine), Client::of(&engine));
    owner.ok("CREATE TABLE t (k integer PRIMARY KEY, v integer); INSERT INTO t VALUES (1, 1), (2, 2)").await;
    owner.ok("CREATE TABLE u (k integer PRIMARY KEY); INSERT INTO u VALUES (7)").await;
    for rewrite in [
        "ALTER TABLE t ALTER v TYPE bigint",
        "TRUNCATE t; INSERT INTO t VALUES (1, 1), (2, 2)",
        "DROP TABLE t; CREATE TABLE t AS SELECT 1 AS k, 1 AS v",
    ] {
        reader.ok("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT * FROM u").await;
        owner.ok(rewrite).await;
        assert_eq!(reader.run("SELECT * FROM u").await, "7\nSELECT 1", "{rewrite}");
        for query in ["SELECT * FROM t WHERE k = 1", "SELECT count(*) FROM t", "COPY t TO STDOUT"] {
            reader.ok("SAVEPOINT s").await;
            assert_eq!(reader.run(query).await, TOO_OLD, "{rewrite}; {query}");
            reader.ok("ROLLBACK TO s").await;
        }
        reader.ok("COMMIT; SELECT * FROM t").await;
    }
    reader.ok("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT * FROM t").await;
    owner.ok("CREATE INDEX ON t (v); ALTER TABLE t ADD COLUMN w integer").await;
    assert_eq!(reader.run("SELECT k FROM t WHERE v = 1").await, "1\nSELECT 1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_state_of_amid_a_rewrite_does_not_have_the_table_empty() {
    let engine = engine().await;
    let (mut owner, mut reader, mut holder) = (Client::of(&engine), Client::of(&engine), Client::of(&engine));
    owner.ok("CREATE TABLE t (k integer PRIMARY KEY, v integer); INSERT INTO t VALUES (1, 1), (2, 2)").await;
    // The rewrite stops at the advisory lock, when the storage for its rows exists already.
    holder.ok("SELECT pg_advisory_lock(1)").await;
    let using = "v + coalesce(length(pg_advisory_xact_lock(1)::text), 0)";
    let rewrite = format!("ALTER TABLE t ALTER v TYPE bigint USING {using}");
    let owner = tokio::spawn(async move { owner.ok(&rewrite).await });
    waiting_are(&engine, 1).await;
    reader.ok("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await;
    assert_eq!(reader.run("SELECT count(*) FROM t").await, "2\nSELECT 1");
    holder.ok("SELECT pg_advisory_unlock(1)").await;
    owner.await.unwrap();
    assert_eq!(reader.run("SELECT count(*) FROM t").await, TOO_OLD);
    reader.ok("ROLLBACK").await;
    assert_eq!(reader.run("SELECT count(*) FROM t").await, "2\nSELECT 1");
}
