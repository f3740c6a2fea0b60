//! Estimates of ranges before, during and after flushes.

use crate::support::{FAMILY, batch, commit, create, options, put};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use store::{Durability, KeyRange, Store, TableId, TableSize};
use store_fjall::{FjallStore, Options};

const ROWS: u64 = 8000;

async fn estimate(store: &FjallStore) -> [u64; 2] {
    let third = KeyRange { start: "002000".into(), end: Some("004000".into()) };
    let rows = |size: TableSize| size.rows;
    let all = store.estimate(TableId(1), FAMILY, &[KeyRange::all()]).await.map(rows).unwrap();
    [all, store.estimate(TableId(1), FAMILY, &[third]).await.map(rows).unwrap()]
}

fn assert_near(found: [u64; 2], when: &str) {
    let near = |found: u64, rows: u64| found.abs_diff(rows) <= rows / 5;
    assert!(near(found[0], ROWS) && near(found[1], 2000), "{when}: {found:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn an_estimate_does_not_depend_on_when_memtables_are_flushed() {
    let folder = tempfile::tempdir().unwrap();
    // Other tables have rows in the same memtable.
    let store = FjallStore::open(folder.path(), Options { idle_flush: std::time::Duration::MAX, ..options() }).unwrap();
    for table in 1..=3 {
        commit(&store, create(table)).await;
        for some in (0..ROWS as u32).collect::<Vec<_>>().chunks(500) {
            let rows = some.iter().map(|n| put(table, &format!("{n:06}"), "a value of some length"));
            store.apply(batch(rows.collect()), Durability::Buffered).await.unwrap();
        }
    }
    commit(&store, batch(vec![put(1, "000000", "again")])).await;
    assert_near(estimate(&store).await, "in memory");
    let (flushing, ended) = (store.clone(), Arc::new(AtomicBool::new(false)));
    let (done, mut seen) = (Arc::clone(&ended), 0);
    let flush = tokio::spawn(async move {
        flushing.flush(TableId(1), false).await.unwrap();
        done.store(true, Ordering::Release);
    });
    while !ended.load(Ordering::Acquire) || seen == 0 {
        assert_near(estimate(&store).await, "beside a flush");
        seen += 1;
    }
    flush.await.unwrap();
    assert_near(estimate(&store).await, "on disk");
}
