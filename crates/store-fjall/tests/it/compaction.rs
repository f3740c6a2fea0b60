//! The store's own threads compact flushed tables.

use crate::support::{batch, commit, create, now, options, put, scan};
use std::time::{Duration, Instant};
use store::{Store, TableId};
use store_fjall::FjallStore;

const FLUSHES: u32 = 12;

fn stat(store: &FjallStore, name: &str) -> u64 {
    store.stats().values.iter().find(|(found, _)| *found == name).unwrap().1
}

/// Overwrites the same rows repeatedly, with one flush each.
async fn write_and_flush(store: &FjallStore, round: u32) {
    for flush in 0..FLUSHES {
        let rows = (0..100).map(|n| put(1, &format!("{n:03}"), &format!("{round} {flush}"))).collect();
        commit(store, batch(rows)).await;
        store.flush(TableId(1), false).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tables_of_level_0_are_merged_before_and_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..2 {
        let store = FjallStore::open(folder.path(), options()).unwrap();
        if round == 0 {
            commit(&store, create(1)).await;
        }
        write_and_flush(&store, round).await;
        let begun = Instant::now();
        while stat(&store, "sorted_tables") >= u64::from(FLUSHES) || stat(&store, "compactions_total") == 0 {
            assert!(begun.elapsed() < Duration::from_secs(60), "nothing is compacted");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let rows = scan(&store, 1, &now(&store).await).await;
        assert_eq!(rows.len(), 100);
        let newest = format!("{round} {}", FLUSHES - 1);
        assert!(rows.iter().all(|(_, row)| *row == newest), "{rows:?}");
        store.close().await.unwrap();
    }
}
