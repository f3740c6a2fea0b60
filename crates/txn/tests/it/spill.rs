//! Writes that exceed the memory limit are spilled to files, without any other difference.

use crate::map_store::MapStore;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use store::{Bytes, Durability, FamilyId, KeyRange, ScanRequest, Store, TableId};
use txn::{LockTable, Savepoint, Transaction, TransactionOptions, TxnError, WriteMemory};

const F: FamilyId = FamilyId(0);

/// Unlimited memory, and a folder.
#[derive(Debug)]
pub struct Anything;

impl WriteMemory for Anything {
    fn hold(&self, _: usize) -> bool {
        true
    }

    fn spill_folder(&self) -> Option<&Path> {
        Some(Path::new("/tmp"))
    }
}

/// Memory shared with others, and a folder that may not exist.
#[derive(Debug)]
struct Shared {
    free: AtomicUsize,
    most: AtomicUsize,
    folder: PathBuf,
}

impl Shared {
    fn new(free: usize, folder: &Path) -> Arc<Self> {
        Arc::new(Self { free: AtomicUsize::new(free), most: AtomicUsize::new(0), folder: folder.to_owned() })
    }
}

impl WriteMemory for Shared {
    fn hold(&self, bytes: usize) -> bool {
        let fits = bytes <= self.free.load(Ordering::Relaxed);
        if fits {
            self.most.fetch_max(bytes, Ordering::Relaxed);
        }
        fits
    }

    fn spill_folder(&self) -> Option<&Path> {
        Some(&self.folder)
    }
}

fn begin(store: &Arc<MapStore>, max_write_bytes: usize) -> Transaction {
    let options = TransactionOptions { max_write_bytes, ..TransactionOptions::default() };
    let store: Arc<dyn Store> = Arc::clone(store) as Arc<dyn Store>;
    let mut txn = Transaction::begin(store, &Arc::new(LockTable::new()), options);
    txn.set_write_memory(Arc::new(Anything));
    txn
}

fn key(n: u32) -> Bytes {
    Bytes::copy_from_slice(&n.to_be_bytes())
}

async fn rows_of(txn: &mut Transaction, table: TableId, reverse: bool) -> Vec<(Bytes, Bytes)> {
    let view = txn.begin_statement().await.unwrap();
    let request = ScanRequest { reverse, keys: true, ..ScanRequest::new(table, F, vec![KeyRange::all()]) };
    let mut scan = view.scan(request).await.unwrap();
    let mut rows = Vec::new();
    while let Some(batch) = scan.next().await.unwrap() {
        for (key, row) in batch.keys().zip(batch.fragments()) {
            rows.push((Bytes::copy_from_slice(key), Bytes::copy_from_slice(row)));
        }
    }
    if reverse {
        rows.reverse();
    }
    rows
}

#[derive(Clone, Debug)]
enum Step {
    Put(u8, u8, u16),
    Delete(u8, u8),
    EndStatement,
    AbortStatement,
    Savepoint,
    RollbackTo(usize),
    Release,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (0u8..2, any::<u8>(), 0u16..400).prop_map(|(table, key, len)| Step::Put(table, key, len)),
        4 => (0u8..2, any::<u8>()).prop_map(|(table, key)| Step::Delete(table, key)),
        3 => Just(Step::EndStatement),
        1 => Just(Step::AbortStatement),
        1 => Just(Step::Savepoint),
        1 => any::<usize>().prop_map(Step::RollbackTo),
        1 => Just(Step::Release),
    ]
}

type Model = BTreeMap<(u8, Bytes), Bytes>;

/// The same steps on sorted maps, cloned at each savepoint.
struct World {
    txn: Transaction,
    done: Model,
    statement: Model,
    savepoints: Vec<(Savepoint, Model)>,
    number: u32,
}

impl World {
    async fn step(&mut self, step: &Step) {
        match step {
            Step::Put(table, n, len) => {
                self.number += 1;
                let mut row = self.number.to_be_bytes().to_vec();
                row.resize(4 + usize::from(*len), *n);
                let row = Bytes::from(row);
                self.txn.put(TableId(u32::from(*table)), F, key(u32::from(*n)), row.clone()).await.unwrap();
                self.statement.insert((*table, key(u32::from(*n))), row);
            }
            Step::Delete(table, n) => {
                self.txn.delete(TableId(u32::from(*table)), F, key(u32::from(*n))).await.unwrap();
                self.statement.remove(&(*table, key(u32::from(*n))));
            }
            Step::EndStatement => {
                self.txn.end_statement().unwrap();
                self.done = self.statement.clone();
            }
            Step::AbortStatement => {
                self.txn.abort_statement();
                self.statement = self.done.clone();
            }
            Step::Savepoint => {
                let savepoint = self.txn.savepoint().unwrap();
                self.done = self.statement.clone();
                self.savepoints.push((savepoint, self.done.clone()));
            }
            Step::RollbackTo(which) if !self.savepoints.is_empty() => {
                self.savepoints.truncate(which % self.savepoints.len() + 1);
                let (savepoint, model) = self.savepoints.last().unwrap();
                self.txn.rollback_to(*savepoint).unwrap();
                (self.done, self.statement) = (model.clone(), model.clone());
            }
            Step::RollbackTo(_) => {}
            Step::Release => {
                self.txn.release_savepoints().unwrap();
                self.done = self.statement.clone();
                self.savepoints.clear();
            }
        }
    }

    async fn check(&mut self) -> Result<(), TestCaseError> {
        for table in 0..2u8 {
            for n in 0..=u8::MAX {
                let newest = self.txn.get_newest(TableId(u32::from(table)), F, &key(u32::from(n))).await.unwrap();
                prop_assert_eq!(newest.as_ref(), self.statement.get(&(table, key(u32::from(n)))));
            }
        }
        self.txn.end_statement().unwrap();
        self.done = self.statement.clone();
        for (table, reverse) in [(0u8, false), (0, true), (1, false), (1, true)] {
            let expected: Vec<_> = self.done.iter().filter(|((of, _), _)| *of == table).collect();
            let expected: Vec<_> = expected.into_iter().map(|((_, key), row)| (key.clone(), row.clone())).collect();
            prop_assert_eq!(rows_of(&mut self.txn, TableId(u32::from(table)), reverse).await, expected);
        }
        Ok(())
    }
}

async fn check(steps: &[Step], before: &[u8], max_write_bytes: usize) -> Result<(), TestCaseError> {
    let store = MapStore::new();
    let mut setup = begin(&store, usize::MAX);
    let mut model = Model::new();
    for n in before {
        setup.put(TableId(0), F, key(u32::from(*n)), Bytes::from_static(b"committed")).await.unwrap();
        model.insert((0, key(u32::from(*n))), Bytes::from_static(b"committed"));
    }
    setup.commit(Durability::Sync).await.unwrap();
    let txn = begin(&store, max_write_bytes);
    let mut world = World { txn, done: model.clone(), statement: model, savepoints: Vec::new(), number: 0 };
    for (at, step) in steps.iter().enumerate() {
        world.step(step).await;
        if at % 40 == 39 {
            world.check().await?;
        }
    }
    world.check().await?;
    let World { txn, done, .. } = world;
    txn.commit(Durability::Sync).await.unwrap();
    let committed = store.newest().1;
    let committed: Model = committed.iter().map(|(id, row)| ((id.0.0 as u8, id.2.clone()), row.1.clone())).collect();
    prop_assert_eq!(committed, done);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_transaction_in_files_is_as_one_in_memory(
        steps in prop::collection::vec(step(), 0..250),
        before in prop::collection::vec(any::<u8>(), 0..60),
        max_write_bytes in 0usize..12_000,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(check(&steps, &before, max_write_bytes))?;
    }
}

const T: TableId = TableId(16);

#[tokio::test]
async fn many_times_the_memory_is_written_and_committed() {
    let store = MapStore::new();
    let mut txn = begin(&store, 4 << 20);
    let memory = Shared::new(8 << 20, Path::new("/tmp"));
    txn.set_write_memory(Arc::clone(&memory) as Arc<dyn WriteMemory>);
    // Keys in random order, so that every run has keys of every range.
    for n in 0..100_000u32 {
        let n = n.wrapping_mul(2_654_435_761);
        txn.put(T, F, key(n), Bytes::from(vec![7; 300])).await.unwrap();
    }
    assert!(memory.most.load(Ordering::Relaxed) <= 6 << 20, "{memory:?}");
    assert!(txn.written_by_statement(T, F, &key(2_654_435_761)).unwrap());
    assert!(!txn.written_by_statement(T, F, &key(1)).unwrap());
    assert_eq!(rows_of(&mut txn, T, false).await.len(), 100_000);
    txn.commit(Durability::Sync).await.unwrap();
    assert_eq!(store.newest().1.len(), 100_000);
}

#[tokio::test]
async fn others_that_hold_the_memory_send_a_transaction_to_files_too() {
    let store = MapStore::new();
    let mut txn = begin(&store, usize::MAX);
    let memory = Shared::new(2 << 20, Path::new("/tmp"));
    txn.set_write_memory(Arc::clone(&memory) as Arc<dyn WriteMemory>);
    for n in 0..20_000 {
        txn.put(T, F, key(n), Bytes::from(vec![7; 300])).await.unwrap();
    }
    // It continues with the memory that it has, and a newcomer gets none.
    memory.free.store(0, Ordering::Relaxed);
    for n in 20_000..40_000 {
        txn.put(T, F, key(n), Bytes::from(vec![7; 300])).await.unwrap();
    }
    let mut other = begin(&store, usize::MAX);
    other.set_write_memory(memory);
    let refused = other.put(T, F, key(1), Bytes::new()).await;
    assert!(matches!(refused, Err(TxnError::NoMemory { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_folder_that_takes_no_file_is_named() {
    let store = MapStore::new();
    let mut txn = begin(&store, 1 << 20);
    txn.set_write_memory(Shared::new(usize::MAX, Path::new("/nonexistent")));
    let mut done = Ok(());
    for n in 0..10_000 {
        done = done.and(txn.put(T, F, key(n), Bytes::from(vec![7; 300])).await);
    }
    let told = done.unwrap_err();
    assert!(matches!(&told, TxnError::Spill { folder, .. } if folder == Path::new("/nonexistent")), "{told:?}");
    assert_eq!(store.newest().1.len(), 0);
}

#[tokio::test]
async fn rows_set_aside_come_back_in_key_order_and_each_key_once() {
    let store = MapStore::new();
    let mut txn = begin(&store, 1 << 20);
    for n in (0..20_000).rev() {
        assert!(txn.defer_row(T, F, key(n), Bytes::from(vec![7; 100])).await.unwrap());
    }
    assert!(!txn.defer_row(T, F, key(19_999), Bytes::new()).await.unwrap());
    let mut rows = txn.take_deferred().rows(T, F);
    for n in 0..20_000 {
        assert_eq!(rows.next_row().unwrap().unwrap().0, key(n));
    }
    assert!(rows.next_row().unwrap().is_none());
    assert!(txn.is_read_only());
}
