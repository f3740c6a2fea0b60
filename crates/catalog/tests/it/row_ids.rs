//! Hidden row ids are never reused.

use crate::world::new_store;
use catalog::{CatalogCache, CatalogError};
use std::collections::BTreeSet;
use std::sync::Arc;
use store::{ManualClock, Store, StoreError, Timestamp};
use store_testkit::{FaultPlan, FaultStore, ModelStore, Point, RecordingStore};

const NOW: u64 = 1_700_000_000_000;

fn clock(now: u64) -> Arc<ManualClock> {
    let clock = Arc::new(ManualClock::default());
    clock.set(Timestamp(now));
    clock
}

async fn open(store: &Arc<dyn Store>, clock: &Arc<ManualClock>) -> Arc<CatalogCache> {
    CatalogCache::open_with_clock(Arc::clone(store), Arc::clone(clock) as Arc<dyn store::Clock>).await.unwrap()
}

fn ms(id: i64) -> u64 {
    (id as u64) >> 21
}

#[tokio::test]
async fn ids_ascend_and_tell_the_time() {
    let (store, clock) = (new_store(), clock(NOW));
    let cache = open(&store, &clock).await;
    let first = cache.row_ids().next().await.unwrap();
    assert_eq!(ms(first), NOW);
    clock.set(Timestamp(NOW + 5));
    let second = cache.row_ids().next().await.unwrap();
    assert_eq!(ms(second), NOW + 5);
    clock.set(Timestamp(NOW - 60_000));
    let third = cache.row_ids().next().await.unwrap();
    assert!(first < second && second < third, "a clock that steps back does not take ids with it");
}

#[tokio::test]
async fn more_ids_than_a_millisecond_has_borrow_from_the_next() {
    let (store, clock) = (new_store(), clock(NOW));
    let cache = open(&store, &clock).await;
    let block = cache.row_ids().reserve(10_000).await.unwrap();
    assert_eq!(block.len(), 10_000);
    let ids: Vec<_> = block.collect();
    assert!(ids.is_sorted_by(|a, b| a < b));
    assert_eq!((ms(ids[0]), ms(ids[9_999])), (NOW, NOW + 2));
    assert!(cache.row_ids().next().await.unwrap() > ids[9_999]);
}

#[tokio::test]
async fn a_crash_at_any_time_and_with_any_clock_repeats_none() {
    let store = new_store();
    let mut seen = BTreeSet::new();
    // Clocks of successive processes on the store, some far back and some far ahead.
    for now in [NOW, NOW, NOW - 3_600_000, NOW + 1, NOW + 3_600_000, NOW, 0, NOW + 3_600_000] {
        let clock = clock(now);
        let cache = open(&store, &clock).await;
        for step in 0..20 {
            clock.set(Timestamp(now + step * 100_000));
            for id in cache.row_ids().reserve(3).await.unwrap() {
                assert!(id > 0);
                assert!(seen.insert(id), "{id} came twice");
            }
        }
        // A crash: nothing is closed.
    }
    assert_eq!(seen.len(), 8 * 20 * 3);
}

#[tokio::test]
async fn a_mark_is_written_seldom_and_before_its_ids_are_given() {
    let plan = FaultPlan::new();
    let faulty = FaultStore::new(Arc::new(ModelStore::new()), plan.clone());
    let recorder = Arc::new(RecordingStore::new(Arc::new(faulty)));
    let store: Arc<dyn Store> = Arc::clone(&recorder) as Arc<dyn Store>;
    let clock = clock(NOW);
    let cache = open(&store, &clock).await;
    let applies = || recorder.counts().batches;
    let before = applies();
    for minute in 0..30 {
        clock.set(Timestamp(NOW + minute * 60_000));
        for _ in 0..100 {
            cache.row_ids().next().await.unwrap();
        }
    }
    assert!(applies() - before <= 4, "{} commits in half an hour", applies() - before);
    clock.set(Timestamp(NOW + 1_000_000_000));
    plan.fail(Point::Apply, 1, StoreError::Io { action: "write".into(), reason: "injected".into() });
    let refused = cache.row_ids().next().await;
    assert!(matches!(refused, Err(CatalogError::Store(StoreError::Io { .. }))), "{refused:?}");
    cache.row_ids().next().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sessions_share_one_source() {
    let (store, clock) = (new_store(), clock(NOW));
    let cache = open(&store, &clock).await;
    let task = |cache: Arc<CatalogCache>| async move {
        let mut ids = Vec::new();
        for n in 0..200 {
            ids.extend(cache.row_ids().reserve(n % 5 + 1).await.unwrap());
        }
        ids
    };
    let tasks: Vec<_> = (0..8).map(|_| tokio::spawn(task(Arc::clone(&cache)))).collect();
    let (mut all, mut count) = (BTreeSet::new(), 0);
    for task in tasks {
        let ids = task.await.unwrap();
        count += ids.len();
        all.extend(ids);
    }
    assert_eq!((all.len(), count), (8 * 600, 8 * 600));
}
