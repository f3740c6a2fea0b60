//! Failing changes are atomic for concurrent readers and after a reopen.

use crate::world::{create, new_store, new_table, open, shown};
use catalog::{CatalogError, NewTable, SYSTEM_TABLE};
use std::sync::Arc;
use store::{Store, StoreError};
use store_testkit::{FaultPlan, FaultStore, ModelStore, Point};

/// A model store, its fault plan, and the store with faults.
fn with_faults() -> (ModelStore, FaultPlan, Arc<dyn Store>) {
    let (model, plan) = (ModelStore::new(), FaultPlan::new());
    let store = Arc::new(FaultStore::new(Arc::new(model.clone()), plan.clone()));
    (model, plan, store)
}

#[tokio::test]
async fn a_change_that_the_store_refuses_never_was() {
    let (_, plan, store) = with_faults();
    let cache = open(&store).await;
    create(&cache, new_table("kept")).await.unwrap();
    let before = shown(&cache.current());
    plan.fail(Point::Apply, 1, StoreError::Io { action: "write".into(), reason: "injected".into() });
    let failed = create(&cache, new_table("lost")).await;
    assert!(matches!(failed, Err(CatalogError::Store(StoreError::Io { .. }))), "{failed:?}");
    assert_eq!(shown(&cache.current()), before);
    assert_eq!(shown(&open(&store).await.current()), before);
    create(&cache, new_table("lost")).await.unwrap();
}

#[tokio::test]
async fn a_change_that_is_not_durable_is_not_shown_and_a_crash_takes_all_of_it() {
    let (model, plan, store) = with_faults();
    let cache = open(&store).await;
    let before = shown(&cache.current());
    plan.fail(Point::Sync, 1, StoreError::ReadOnly { reason: "injected".into(), disk_full: false });
    let failed = create(&cache, new_table("t")).await;
    assert!(matches!(failed, Err(CatalogError::Store(StoreError::ReadOnly { .. }))), "{failed:?}");
    assert_eq!(shown(&cache.current()), before);
    let crashed: Arc<dyn Store> = Arc::new(model.after_crash());
    assert_eq!(shown(&open(&crashed).await.current()), before);
    let first_storage = store::TableId(16);
    assert!(crashed.regions(first_storage).await.is_err(), "its storage went with it");
}

#[tokio::test]
async fn a_change_whose_caller_went_away_is_finished() {
    let cache = open(&new_store()).await;
    let mut change = Box::pin(create(&cache, new_table("t")));
    let polled = std::future::poll_fn(|context| std::task::Poll::Ready(change.as_mut().poll(context).is_ready()));
    assert!(!polled.await, "it waits for the store");
    drop(change);
    // The next change waits for the previous one, and builds on it.
    let again = create(&cache, new_table("t")).await;
    assert!(matches!(again, Err(CatalogError::DuplicateTable { .. })), "{again:?}");
    assert!(cache.current().table("public", "t").is_some());
}

#[tokio::test]
async fn a_second_process_cannot_write_over_the_first() {
    let store = new_store();
    let (first, second) = (open(&store).await, open(&store).await);
    create(&first, new_table("t")).await.unwrap();
    let refused = create(&second, new_table("u")).await;
    assert_eq!(refused.unwrap_err(), CatalogError::ChangedElsewhere);
    assert!(second.current().table("public", "t").is_some(), "it knows better now");
    create(&second, new_table("u")).await.unwrap();
    assert!(open(&store).await.current().table("public", "t").is_some());
}

#[tokio::test]
async fn a_prepared_table_is_seen_when_it_is_published() {
    let store = new_store();
    let cache = open(&store).await;
    let prepared = cache.prepare_table(new_table("t")).await.unwrap();
    let storage = prepared.table().storage_id();
    assert!(store.regions(storage).await.is_ok(), "rows can be loaded");
    assert!(cache.current().table("public", "t").is_none());
    assert!(cache.current().orphans([storage, SYSTEM_TABLE]).is_empty());
    let published = cache.change(|draft| draft.publish_table(&prepared)).await.unwrap();
    assert_eq!((published.storage_id(), published.oid), (storage, prepared.table().oid));
    assert!(open(&store).await.current().table("public", "t").is_some());
    assert!(store.regions(storage).await.is_ok());
    let twice = cache.change(|draft| draft.publish_table(&prepared)).await;
    assert!(matches!(twice, Err(CatalogError::DuplicateTable { .. })), "{twice:?}");
    let discarded = cache.change(|draft| draft.discard_table(&prepared)).await;
    assert!(matches!(discarded, Err(CatalogError::NoSuchTable { .. })), "a published table is not discarded");
}

#[tokio::test]
async fn a_prepared_table_is_discarded_or_removed_when_the_store_is_opened_again() {
    let store = new_store();
    let cache = open(&store).await;
    let discarded = cache.prepare_table(new_table("t")).await.unwrap();
    cache.change(|draft| draft.discard_table(&discarded)).await.unwrap();
    assert!(store.regions(discarded.table().storage_id()).await.is_err());
    let left = cache.prepare_table(new_table("t")).await.unwrap();
    assert!(store.regions(left.table().storage_id()).await.is_ok());
    drop(cache);
    let cache = open(&store).await;
    assert!(store.regions(left.table().storage_id()).await.is_err());
    assert!(cache.current().table("public", "t").is_none());
    let late = cache.change(|draft| draft.publish_table(&left)).await;
    assert!(matches!(late, Err(CatalogError::NoSuchTable { .. })), "{late:?}");
}

#[tokio::test]
async fn a_prepared_table_whose_name_was_taken_meanwhile_can_only_be_discarded() {
    let store = new_store();
    let cache = open(&store).await;
    cache.change(|draft| draft.create_schema("s").map(|_| ())).await.unwrap();
    let prepared = cache.prepare_table(NewTable { schema: "s".into(), ..new_table("t") }).await.unwrap();
    create(&cache, NewTable { schema: "s".into(), ..new_table("t") }).await.unwrap();
    let taken = cache.change(|draft| draft.publish_table(&prepared)).await;
    assert!(matches!(taken, Err(CatalogError::DuplicateTable { .. })), "{taken:?}");
    cache.change(|draft| draft.drop_schema("s", true)).await.unwrap();
    let gone = cache.change(|draft| draft.publish_table(&prepared)).await;
    assert!(matches!(gone, Err(CatalogError::NoSuchSchema { .. })), "{gone:?}");
    cache.change(|draft| draft.discard_table(&prepared)).await.unwrap();
    assert!(store.regions(prepared.table().storage_id()).await.is_err());
}
