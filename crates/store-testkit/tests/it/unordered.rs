//! The suite against a store whose commit numbers have no order.

use crate::rows::{TABLE, batch, commit, create, replace};
use bennu_store_testkit::{ModelStore, UnorderedStore};
use std::sync::Arc;
use store::{CommitNo, FamilyId, PointRead, Store};

async fn new_store() -> Arc<dyn Store> {
    Arc::new(UnorderedStore::new(Arc::new(ModelStore::new())))
}

mod suite {
    use super::new_store;
    bennu_store_testkit::conformance_tests!(new_store);
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
