//! Callers that wait for the store get an answer when it is closed.

use super::life;
use super::reading::family_of;
use crate::folder;
use crate::history::row;
use bennu_sim::scheduler::{self, Settings, block_on, run};
use std::path::Path;
use std::sync::Arc;
use store::{
    Durability, FamilySpec, Mutation, Store, StoreError, StoreResult, TableChange, TableId, TableSpec, WriteBatch,
};
use store_fjall_sim::FjallStore;

const TABLE: TableId = TableId(1);

/// Writes and flushes a row repeatedly until the store is closed.
async fn flush_again_and_again(store: &FjallStore, own: u64) -> StoreError {
    for number in 0.. {
        let (key, fragment) = (row::key(number * 2 + own).into(), row::fragment(number, 1));
        let put = Mutation::Replace { table: TABLE, family: family_of(1, 0), key, fragment };
        let batch = WriteBatch { mutations: vec![put], ..WriteBatch::default() };
        let done: StoreResult<()> = async {
            store.apply(batch, Durability::Buffered).await?;
            store.flush(TABLE, false).await
        }
        .await;
        if let Err(error) = done {
            return error;
        }
    }
    StoreError::Closed
}

/// Must be called within a run.
fn close_beside_flushes(folder: &Path) {
    let store = FjallStore::open(folder, life::options()).unwrap();
    let spec = TableSpec { id: TABLE, families: vec![FamilySpec::new(family_of(1, 0))], splits: vec![] };
    let create = WriteBatch { tables: vec![TableChange::Create(spec)], ..WriteBatch::default() };
    block_on(store.apply(create, Durability::Sync)).unwrap().unwrap();
    let flushing = |own: u64| {
        let store: Arc<FjallStore> = store.clone();
        scheduler::spawn("flushing", false, move || {
            let ended = block_on(flush_again_and_again(&store, own)).unwrap();
            assert_eq!(ended, StoreError::Closed);
        })
        .unwrap()
    };
    let clients = [flushing(0), flushing(1)];
    for _ in 0..scheduler::random(400) {
        scheduler::point("waiting for the end");
    }
    block_on(store.close()).unwrap().unwrap();
    clients.into_iter().for_each(|client| client.join().unwrap());
}

#[test]
fn a_flush_beside_the_end_of_the_store_is_answered() {
    for seed in 1..80 {
        let folder = folder::in_memory();
        let path = folder.path().join("data");
        let ended = run(Settings { seed, left_out: None }, move || close_beside_flushes(&path));
        ended.unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
    }
}
