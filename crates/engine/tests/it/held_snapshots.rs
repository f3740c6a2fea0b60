//! Who holds a snapshot of the store.

use crate::client::{Client, engine_over};
use std::sync::Arc;
use std::time::Duration;
use store::Store;
use store_fjall::FjallStore;

fn held(store: &FjallStore) -> u64 {
    store.stats().values.into_iter().find(|(name, _)| *name == "snapshots").unwrap().1
}

/// Waits until so many are held: what is dropped elsewhere is dropped a moment later.
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
