//! Interleaved steps of two processes.

use super::*;
use crate::{CatalogCache, Draft, NewColumn, NewKeyPart, NewTable};
use std::sync::Arc;
use store_testkit::{LimitedStore, ModelStore, Without};
use types::DataType;

fn shared() -> Arc<dyn Store> {
    Arc::new(LimitedStore::new(Arc::new(ModelStore::new()), Without::everything()))
}

fn new_table(name: &str) -> NewTable {
    let mut table = NewTable::new("public", name);
    table.columns = vec![NewColumn::new("k", DataType::Integer)];
    table.key = vec![NewKeyPart::ascending("k")];
    table
}

/// Logs the intent of a change that creates `t`, as a process that pauses afterwards.
async fn logged(store: &dyn Store, cache: &CatalogCache) -> Intent {
    let mut draft = Draft::new(&cache.current());
    draft.create_table(new_table("t")).unwrap();
    let change = draft.finish().unwrap();
    let intent = intent_of(store, &change).await.unwrap();
    let read = stored::read_counters(store).await.unwrap().unwrap();
    replace_counters(store, &Counters { intent: Some(intent.clone()), ..read.counters }, read.commit).await.unwrap();
    intent
}

#[tokio::test]
async fn an_intent_is_finished_by_another_process() {
    let store = shared();
    let cache = CatalogCache::open(Arc::clone(&store)).await.unwrap();
    logged(store.as_ref(), &cache).await;
    let other = CatalogCache::open(Arc::clone(&store)).await.unwrap();
    let table = other.current().table("public", "t").cloned().unwrap();
    assert!(store.regions(table.storage_id()).await.is_ok());
}

#[tokio::test]
async fn a_process_that_wakes_up_late_changes_nothing() {
    let store = shared();
    let cache = CatalogCache::open(Arc::clone(&store)).await.unwrap();
    let intent = logged(store.as_ref(), &cache).await;
    // Meanwhile another process finishes it, and drops and creates tables.
    let other = CatalogCache::open(Arc::clone(&store)).await.unwrap();
    let table = other.current().table("public", "t").cloned().unwrap();
    other.change(|draft| draft.drop_table(table.oid)).await.unwrap();
    other.change(|draft| draft.create_table(new_table("u"))).await.unwrap();
    let after = format!("{:?}", stored::load(store.as_ref()).await.unwrap().unwrap().catalog);
    write_rows(store.as_ref(), &intent).await.unwrap();
    finish(store.as_ref(), Some(intent.version)).await.unwrap();
    let found = format!("{:?}", stored::load(store.as_ref()).await.unwrap().unwrap().catalog);
    assert_eq!(found, after);
}

#[tokio::test]
async fn who_logged_a_change_that_another_undid_is_told() {
    let store = shared();
    let cache = CatalogCache::open(Arc::clone(&store)).await.unwrap();
    let intent = logged(store.as_ref(), &cache).await;
    let read = stored::read_counters(store.as_ref()).await.unwrap().unwrap();
    replace_counters(store.as_ref(), &undone(&read.counters, &intent), read.commit).await.unwrap();
    // Later changes follow.
    cache.follow_now().await.unwrap();
    cache.change(|draft| draft.create_table(new_table("u"))).await.unwrap();
    let told = finish(store.as_ref(), Some(intent.version)).await;
    assert_eq!(told.unwrap_err(), CatalogError::ChangedElsewhere);
    assert!(cache.current().table("public", "t").is_none());
}
