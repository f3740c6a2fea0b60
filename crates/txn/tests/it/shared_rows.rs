//! Transactions of several processes, each with its own locks, on one store with row-level atomicity.

use std::sync::Arc;
use store::{
    Bytes, CommitNo, Condition, Durability, FamilyId, FamilySpec, PointRead, Store, StoreError, TableChange, TableId,
    TableSpec, WriteBatch,
};
use store_testkit::{ModelStore, minimal_store};
use txn::{LockMode, LockTable, LockWait, Transaction, TransactionOptions, TxnError, TxnResult};

const T: TableId = TableId(7);
const F: FamilyId = FamilyId(0);

async fn shared() -> Arc<dyn Store> {
    let store = minimal_store(ModelStore::new());
    let table = TableSpec { id: T, families: vec![FamilySpec::new(F)], splits: Vec::new() };
    let batch = WriteBatch { tables: vec![TableChange::Create(table)], ..WriteBatch::default() };
    store.apply(batch, Durability::Sync).await.unwrap();
    store
}

fn row(number: u64) -> Bytes {
    let mut out = Vec::new();
    fragment::encode_sparse(1, &[(1, &number.to_be_bytes())], &mut out).unwrap();
    out.into()
}

fn number(row: &[u8]) -> u64 {
    let parsed = fragment::Fragment::parse(row).unwrap();
    u64::from_be_bytes(parsed.sparse().unwrap().cell(1).unwrap().try_into().unwrap())
}

/// A process with its own lock table.
#[derive(Clone)]
struct Process {
    store: Arc<dyn Store>,
    locks: Arc<LockTable>,
}

impl Process {
    fn new(store: &Arc<dyn Store>) -> Self {
        Self { store: Arc::clone(store), locks: Arc::new(LockTable::new()) }
    }

    fn begin(&self) -> Transaction {
        Transaction::begin(Arc::clone(&self.store), &self.locks, TransactionOptions::default())
    }

    /// Reads the row under its lock and adds to it, without the commit.
    async fn add(&self, txn: &mut Transaction, key: &str) {
        let key = Bytes::copy_from_slice(key.as_bytes());
        txn.lock_row(T, &key, LockMode::Exclusive, LockWait::Forever).await.unwrap();
        let old = txn.get_newest(T, F, &key).await.unwrap().as_deref().map_or(0, number);
        tokio::task::yield_now().await;
        txn.put(T, F, key, row(old + 1)).await.unwrap();
    }

    async fn add_and_commit(&self, key: &str) -> TxnResult<()> {
        let mut txn = self.begin();
        self.add(&mut txn, key).await;
        txn.commit(Durability::Sync).await.map(drop)
    }

    async fn newest(&self, key: &str) -> Option<u64> {
        self.store.get_newest(T, F, key.as_bytes()).await.unwrap().as_deref().map(number)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_processes_never_lose_an_update() {
    let store = shared().await;
    let processes = [Process::new(&store), Process::new(&store)];
    let tasks: Vec<_> = (0..6)
        .map(|task| {
            let process = processes[task % 2].clone();
            tokio::spawn(async move {
                for _ in 0..50 {
                    loop {
                        match process.add_and_commit("hot").await {
                            Ok(()) => break,
                            Err(TxnError::RowChanged { table: T, .. }) => {}
                            Err(other) => panic!("{other}"),
                        }
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(processes[0].newest("hot").await, Some(300));
}

#[tokio::test]
async fn a_row_that_another_process_changed_or_deleted_is_told_before_anything_is_written() {
    let store = shared().await;
    let (one, other) = (Process::new(&store), Process::new(&store));
    for key in ["a", "b", "c"] {
        one.add_and_commit(key).await.unwrap();
    }
    for change in ["update", "delete"] {
        let mut txn = one.begin();
        for key in ["a", "b", "c"] {
            one.add(&mut txn, key).await;
        }
        let before = one.newest("a").await;
        let mut theirs = other.begin();
        match change {
            "update" => theirs.put(T, F, "c".into(), row(70)).await.unwrap(),
            _ => theirs.delete(T, F, "c".into()).await.unwrap(),
        }
        theirs.commit(Durability::Sync).await.unwrap();
        let failed = txn.commit(Durability::Sync).await;
        assert_eq!(failed.unwrap_err(), TxnError::RowChanged { table: T, key: "c".into() }, "{change}");
        assert_eq!(one.newest("a").await, before);
    }
    assert_eq!(one.newest("c").await, None);
}

#[tokio::test]
async fn a_load_without_bulk_loads_finds_keys_that_come_twice() {
    let store = shared().await;
    let mut load = txn::load_unseen(&store, T).await.unwrap();
    let large = |n: u64| {
        let mut out = Vec::new();
        fragment::encode_sparse(1, &[(1, &n.to_be_bytes()), (2, &[7; 100_000])], &mut out).unwrap();
        out
    };
    for n in 0..30_u64 {
        load.write(F, &n.to_be_bytes(), &large(n)).await.unwrap();
    }
    // A duplicate in a batch that is already written, or in the pending one.
    let mut twice = load.write(F, &3_u64.to_be_bytes(), &large(3)).await;
    if twice.is_ok() {
        twice = load.finish().await.map(drop);
    }
    assert_eq!(twice.unwrap_err(), StoreError::DuplicateKey { table: T, key: 3_u64.to_be_bytes().to_vec().into() });
    let mut load = txn::load_unseen(&store, T).await.unwrap();
    load.write(F, b"a", &row(1)).await.unwrap();
    let twice = load.write(F, b"a", &row(2)).await;
    assert_eq!(twice.unwrap_err(), StoreError::DuplicateKey { table: T, key: "a".into() });
}

#[tokio::test]
async fn what_a_statement_requires_itself_is_its_own_error() {
    let store = shared().await;
    let process = Process::new(&store);
    process.add_and_commit("a").await.unwrap();
    let mut txn = process.begin();
    txn.require(Condition { table: T, family: F, key: "a".into(), expect: None });
    txn.put(T, F, "a".into(), row(9)).await.unwrap();
    let failed = txn.commit(Durability::Sync).await.unwrap_err();
    assert_eq!(failed, TxnError::Store(StoreError::ConditionFailed { table: T, key: "a".into() }));
}

#[tokio::test]
async fn a_row_that_was_written_unread_is_written_whatever_is_there() {
    let store = shared().await;
    let (one, other) = (Process::new(&store), Process::new(&store));
    let mut txn = one.begin();
    txn.put(T, F, "a".into(), row(1)).await.unwrap();
    other.add_and_commit("a").await.unwrap();
    let committed = txn.commit(Durability::Sync).await.unwrap();
    assert!(committed.commit > CommitNo(0));
    assert_eq!(one.newest("a").await, Some(1));
}
