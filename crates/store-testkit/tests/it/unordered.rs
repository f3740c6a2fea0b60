//! The suite with a store whose commit numbers are not ordered.

use crate::rows::{TABLE, batch, commit, create, replace};
use bennu_store_testkit::suite::cases;
use bennu_store_testkit::{ModelStore, UnorderedStore};
use std::sync::Arc;
use store::{CommitNo, FamilyId, PointRead, Store};

async fn new_store() -> Arc<dyn Store> {
    Arc::new(UnorderedStore::new(Arc::new(ModelStore::new())))
}

/// The cases that check the order of numbers, which only backends guarantee.
const BY_ORDER: [&str; 3] = [
    "atomicity::commit_numbers_grow",
    "large::rows_of_a_large_commit_carry_a_number_that_no_snapshot_before_had",
    "snapshots::a_snapshot_holds_a_commit_whole_or_not_at_all",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_else_is_as_in_a_store_with_ordered_numbers() {
    let (by_order, others): (Vec<_>, Vec<_>) = cases().into_iter().partition(|(name, _)| BY_ORDER.contains(name));
    assert_eq!(by_order.len(), BY_ORDER.len());
    for (_, case) in others {
        case(new_store().await).await;
    }
}

#[tokio::test]
async fn a_later_stamp_may_be_smaller_and_states_hold_what_they_were_asked_for() {
    let store = new_store().await;
    create(&store).await;
    let mut commits = Vec::new();
    for value in [b"1", b"2", b"3", b"4"] {
        let made = commit(&store, batch(vec![replace("a", value)])).await.unwrap();
        let state = store.snapshot(made).await.unwrap();
        let row = store.get_row(TABLE, FamilyId(0), b"a", &state).await.unwrap().unwrap();
        assert_eq!((fragment::header::commit_of(&row), state.commit()), (Some(made), made));
        commits.push(made);
    }
    assert!(!commits.is_sorted(), "{commits:?}");
    assert!(store.snapshot(CommitNo(0)).await.is_ok());
}
