//! The suite with stores of fewer capabilities, and batches without atomicity.

use crate::rows::{TABLE, batch, commit, create, replace, rows};
use bennu_store_testkit::{LimitedStore, ModelStore, Without};
use std::sync::Arc;
use store::{Condition, OnDuplicate, Scope, Store, StoreError, TableChange, WriteBatch};

async fn new_store() -> Arc<dyn Store> {
    Arc::new(LimitedStore::new(Arc::new(ModelStore::new()), Without::everything()))
}

mod suite {
    use super::new_store;
    bennu_store_testkit::conformance_tests!(new_store);
}

#[tokio::test]
async fn without_atomic_batches_rows_before_the_failure_stay() {
    let store = new_store().await;
    create(&store).await;
    let first = commit(&store, batch(vec![replace("b", b"old")])).await.unwrap();
    let condition = Condition { table: TABLE, family: crate::rows::FAMILY, key: "b".into(), expect: None };
    let mutations = vec![replace("a", b"new"), replace("b", b"new"), replace("c", b"new")];
    // The row with the condition is the first to be applied, so nothing is written.
    let failed = commit(&store, WriteBatch { conditions: vec![condition.clone()], ..batch(mutations.clone()) }).await;
    assert!(matches!(failed, Err(StoreError::ConditionFailed { .. })));
    assert_eq!(rows(&store).await.unwrap(), [("b".into(), "old".into())]);
    // The condition holds, but a later mutation is invalid: the rows before it stay.
    let mut mutations = mutations;
    mutations.insert(1, replace("aa", &vec![0; store.capabilities().max_fragment_bytes]));
    let holds = Condition { expect: Some(first), ..condition };
    let failed = commit(&store, WriteBatch { conditions: vec![holds], ..batch(mutations) }).await;
    assert!(matches!(failed, Err(StoreError::TooLarge { .. })));
    let last = store.apply(WriteBatch::default(), store::Durability::Sync).await.unwrap();
    store.sync(last).await.unwrap();
    assert_eq!(rows(&store).await.unwrap(), [("a".into(), "new".into()), ("b".into(), "new".into())]);
}

#[tokio::test]
async fn what_is_taken_away_is_told_and_refused() {
    let store = new_store().await;
    create(&store).await;
    let can = store.capabilities();
    assert_eq!((can.atomic_batch, can.snapshot), (Scope::Row, Scope::Row));
    assert!(!can.table_changes && !can.exclusive && !can.filter && !can.bulk_load);
    let both = WriteBatch { tables: vec![TableChange::Drop(TABLE)], ..batch(vec![replace("a", b"1")]) };
    assert!(matches!(commit(&store, both).await, Err(StoreError::Unsupported { .. })));
    let refused = store.bulk_load(TABLE, OnDuplicate::Fail).await.err();
    assert_eq!(refused, Some(StoreError::Unsupported { what: "bulk load" }));
}

async fn small_store() -> Arc<dyn Store> {
    let without = Without { keys_beyond: Some(300), fragments_beyond: Some(2 << 20), ..Without::default() };
    Arc::new(LimitedStore::new(Arc::new(ModelStore::new()), without))
}

mod small {
    use super::small_store;
    bennu_store_testkit::conformance_tests!(small_store);
}
