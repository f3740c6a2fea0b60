//! Transactions from begin to commit or rollback.

use crate::map_store::{MapStore, PERMITS};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use store::{Bytes, CommitNo, Condition, Durability, FamilyId, KeyRange, ScanRequest, Store, StoreError, TableId};
use txn::{LockMode, LockTable, LockWait, Transaction, TransactionOptions, TxnError};

const T: TableId = TableId(16);
const F: FamilyId = FamilyId(0);

struct World {
    store: Arc<MapStore>,
    locks: Arc<LockTable>,
}

impl World {
    fn new(store: Arc<MapStore>) -> Self {
        Self { store, locks: Arc::new(LockTable::new()) }
    }

    fn begin(&self) -> Transaction {
        self.begin_with(TransactionOptions::default())
    }

    fn begin_with(&self, options: TransactionOptions) -> Transaction {
        Transaction::begin(Arc::clone(&self.store) as Arc<dyn Store>, &self.locks, options)
    }

    fn committed(&self) -> Vec<(Bytes, Bytes)> {
        self.store.newest().1.iter().map(|(key, row)| (key.2.clone(), row.1.clone())).collect()
    }
}

fn b(text: &'static str) -> Bytes {
    Bytes::from_static(text.as_bytes())
}

#[tokio::test]
async fn a_block_is_seen_by_itself_at_once_and_by_others_at_its_end() {
    let world = World::new(MapStore::new());
    let mut txn = world.begin();
    txn.begin_statement().await.unwrap();
    txn.put(T, F, b("a"), b("1")).await.unwrap();
    let view = txn.begin_statement().await.unwrap();
    assert_eq!(view.get(T, F, b"a").await.unwrap(), Some(b("1")));
    assert_eq!(world.committed(), []);
    txn.put(T, F, b("b"), b("2")).await.unwrap();
    let done = txn.commit(Durability::Sync).await.unwrap();
    assert_eq!((done.rows, done.atomic), (2, true));
    assert_eq!(world.committed(), [(b("a"), b("1")), (b("b"), b("2"))]);
    assert_eq!(done.commit, CommitNo(1), "one commit");
}

#[tokio::test]
async fn a_rollback_leaves_no_write_and_no_lock() {
    let world = World::new(MapStore::new());
    let mut txn = world.begin();
    txn.lock_row(T, &b("a"), LockMode::Exclusive, LockWait::Forever).await.unwrap();
    txn.put(T, F, b("a"), b("1")).await.unwrap();
    txn.rollback();
    assert_eq!(world.committed(), []);
    assert_eq!(world.locks.locks(), []);
}

#[tokio::test]
async fn a_statement_does_not_read_what_it_writes_itself() {
    let world = World::new(MapStore::new());
    let mut txn = world.begin();
    txn.put(T, F, b("a"), b("1")).await.unwrap();
    let view = txn.begin_statement().await.unwrap();
    let mut scan =
        view.scan(ScanRequest { batch_rows: 1, ..ScanRequest::new(T, F, vec![KeyRange::all()]) }).await.unwrap();
    let mut copied = 0;
    // INSERT INTO t SELECT key || '+' FROM t
    while let Some(batch) = scan.next().await.unwrap() {
        for key in batch.keys() {
            txn.put(T, F, [key, b"+"].concat().into(), b("copy")).await.unwrap();
            copied += 1;
            assert!(copied < 10, "the statement feeds itself");
        }
    }
    assert_eq!(copied, 1);
    assert!(txn.written_by_statement(T, F, b"a+").unwrap() && !txn.written_by_statement(T, F, b"a").unwrap());
    assert_eq!(txn.get_newest(T, F, b"a+").await.unwrap(), Some(b("copy")));
    assert_eq!(view.get(T, F, b"a+").await.unwrap(), None);
    let next = txn.begin_statement().await.unwrap();
    assert_eq!(next.get(T, F, b"a+").await.unwrap(), Some(b("copy")));
    assert_eq!(view.get(T, F, b"a+").await.unwrap(), None, "a view never changes");
}

#[tokio::test]
async fn each_statement_sees_what_others_committed_before_it() {
    let world = World::new(MapStore::new());
    let mut reader = world.begin();
    let before = reader.begin_statement().await.unwrap();
    let mut writer = world.begin();
    writer.put(T, F, b("a"), b("1")).await.unwrap();
    writer.commit(Durability::Sync).await.unwrap();
    assert_eq!(before.get(T, F, b"a").await.unwrap(), None);
    let after = reader.begin_statement().await.unwrap();
    assert_eq!(after.get(T, F, b"a").await.unwrap(), Some(b("1")));
}

#[tokio::test]
async fn an_aborted_statement_is_forgotten_and_the_ones_before_it_stay() {
    let world = World::new(MapStore::new());
    let mut txn = world.begin();
    txn.put(T, F, b("a"), b("1")).await.unwrap();
    txn.begin_statement().await.unwrap();
    txn.put(T, F, b("a"), b("2")).await.unwrap();
    txn.delete(T, F, b("b")).await.unwrap();
    txn.abort_statement();
    assert_eq!(txn.rows_written(), 1);
    txn.commit(Durability::Buffered).await.unwrap();
    assert_eq!(world.committed(), [(b("a"), b("1"))]);
}

/// Lost update: two sessions read, add one and write. With the row lock first, no update is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_update_is_lost_between_sessions() {
    let world = Arc::new(World::new(MapStore::new()));
    let session = |world: Arc<World>| async move {
        for _ in 0..50 {
            let mut txn = world.begin();
            txn.begin_statement().await.unwrap();
            txn.lock_row(T, &b("n"), LockMode::Exclusive, LockWait::Forever).await.unwrap();
            let old = txn.get_newest(T, F, b"n").await.unwrap();
            let n = old.map_or(0, |old| u64::from_be_bytes(old.as_ref().try_into().unwrap()));
            tokio::task::yield_now().await;
            txn.put(T, F, b("n"), Bytes::from((n + 1).to_be_bytes().to_vec())).await.unwrap();
            txn.commit(Durability::Sync).await.unwrap();
        }
    };
    let sessions: Vec<_> = (0..8).map(|_| tokio::spawn(session(Arc::clone(&world)))).collect();
    for session in sessions {
        session.await.unwrap();
    }
    assert_eq!(world.committed(), [(b("n"), Bytes::from(400u64.to_be_bytes().to_vec()))]);
    assert_eq!(world.locks.locks(), []);
}

#[tokio::test]
async fn writes_beyond_the_memory_limit_are_refused_and_the_transaction_can_still_end() {
    let world = World::new(MapStore::new());
    let mut txn = world.begin_with(TransactionOptions { max_write_bytes: 1000, ..Default::default() });
    let big = Bytes::from(vec![0; 400]);
    txn.put(T, F, b("a"), big.clone()).await.unwrap();
    txn.end_statement().unwrap();
    assert_eq!(txn.put(T, F, b("b"), Bytes::from(vec![0; 600])).await, Err(TxnError::TooManyWrites { limit: 1000 }));
    txn.put(T, F, b("b"), big).await.unwrap();
    txn.commit(Durability::Sync).await.unwrap();
    assert_eq!(world.committed().len(), 2);
}

#[tokio::test]
async fn writing_one_row_again_and_again_takes_no_more_memory() {
    let world = World::new(MapStore::new());
    let mut txn = world.begin_with(TransactionOptions { max_write_bytes: 2000, ..Default::default() });
    for n in 0..1000usize {
        txn.put(T, F, b("a"), Bytes::from(vec![0; 400 + n % 7])).await.unwrap();
        txn.end_statement().unwrap();
    }
    assert_eq!(txn.rows_written(), 1);
}

#[tokio::test]
async fn a_condition_that_fails_refuses_the_whole_commit() {
    let world = World::new(MapStore::new());
    let mut first = world.begin();
    first.put(T, F, b("a"), b("1")).await.unwrap();
    let commit = first.commit(Durability::Sync).await.unwrap().commit;
    for (expect, holds) in [(None, false), (Some(CommitNo(99)), false), (Some(commit), true)] {
        let mut txn = world.begin();
        txn.put(T, F, b("b"), b("2")).await.unwrap();
        txn.require(Condition { table: T, family: F, key: b("a"), expect });
        let done = txn.commit(Durability::Sync).await;
        assert_eq!(done.is_ok(), holds, "{done:?}");
        assert_eq!(world.committed().len(), if holds { 2 } else { 1 });
    }
}

#[tokio::test]
async fn a_store_without_atomic_batches_gets_row_by_row_and_says_so() {
    let world = World::new(MapStore::with(false));
    let mut txn = world.begin();
    txn.put(T, F, b("a"), b("1")).await.unwrap();
    assert!(txn.commit(Durability::Sync).await.unwrap().atomic, "one row is atomic everywhere");
    let mut txn = world.begin();
    txn.put(T, F, b("b"), b("2")).await.unwrap();
    txn.put(T, F, b("c"), b("3")).await.unwrap();
    assert!(!txn.commit(Durability::Sync).await.unwrap().atomic);
    assert_eq!(world.committed().len(), 3);

    let mut txn = world.begin();
    for key in ["d", "e", "f"] {
        txn.put(T, F, b(key), b("4")).await.unwrap();
    }
    world.store.applies_left.store(2, Ordering::Relaxed);
    let failed = txn.commit(Durability::Sync).await;
    assert!(matches!(failed, Err(TxnError::PartlyCommitted { written: 2, total: 3, .. })), "{failed:?}");
}

#[tokio::test]
async fn a_failed_commit_changes_nothing_and_releases_the_locks() {
    let world = World::new(MapStore::new());
    world.store.applies_left.store(0, Ordering::Relaxed);
    let mut txn = world.begin();
    txn.lock_row(T, &b("a"), LockMode::Exclusive, LockWait::Forever).await.unwrap();
    txn.put(T, F, b("a"), b("1")).await.unwrap();
    let failed = txn.commit(Durability::Sync).await;
    assert!(matches!(failed, Err(TxnError::Store(StoreError::Io { .. }))));
    assert_eq!((world.committed(), world.locks.locks()), (vec![], vec![]));
}

#[tokio::test]
async fn a_commit_that_nobody_waits_for_any_more_keeps_its_locks_until_the_store_has_it() {
    let world = World::new(MapStore::new());
    let gate = world.store.gate.acquire_many(PERMITS as u32).await.unwrap();
    let mut txn = world.begin();
    txn.lock_row(T, &b("a"), LockMode::Exclusive, LockWait::Forever).await.unwrap();
    txn.put(T, F, b("a"), b("1")).await.unwrap();
    let cancelled = tokio::time::timeout(std::time::Duration::from_millis(5), txn.commit(Durability::Sync)).await;
    assert!(cancelled.is_err());
    let mut next = world.begin();
    assert!(
        next.lock_row(T, &b("a"), LockMode::Exclusive, LockWait::Never).await.is_err(),
        "the batch is still on its way"
    );
    drop(gate);
    next.lock_row(T, &b("a"), LockMode::Exclusive, LockWait::Forever).await.unwrap();
    assert_eq!(next.get_newest(T, F, b"a").await.unwrap(), Some(b("1")), "who gets the lock builds on it");
}

#[tokio::test]
async fn a_transaction_without_writes_commits_without_the_store() {
    let world = World::new(MapStore::new());
    world.store.applies_left.store(0, Ordering::Relaxed);
    let mut txn = world.begin();
    txn.begin_statement().await.unwrap();
    assert!(txn.is_read_only());
    assert_eq!(txn.commit(Durability::Sync).await.unwrap().rows, 0);
}

#[tokio::test]
async fn a_savepoint_takes_back_later_writes_and_conditions_and_keeps_earlier_ones() {
    let world = World::new(MapStore::new());
    let mut txn = world.begin();
    txn.put(T, F, b("a"), b("1")).await.unwrap();
    let outer = txn.savepoint().unwrap();
    txn.put(T, F, b("a"), b("2")).await.unwrap();
    txn.put(T, F, b("b"), b("2")).await.unwrap();
    txn.end_statement().unwrap();
    let inner = txn.savepoint().unwrap();
    txn.delete(T, F, b("a")).await.unwrap();
    txn.put(T, F, b("b"), b("3")).await.unwrap();
    txn.require(Condition { table: T, family: F, key: b("z"), expect: Some(store::CommitNo(9)) });
    txn.rollback_to(inner).unwrap();
    let view = txn.begin_statement().await.unwrap();
    assert_eq!(view.get(T, F, b"a").await.unwrap(), Some(b("2")));
    assert_eq!(view.get(T, F, b"b").await.unwrap(), Some(b("2")));
    txn.put(T, F, b("c"), b("3")).await.unwrap();
    txn.rollback_to(outer).unwrap();
    assert_eq!(view.get(T, F, b"b").await.unwrap(), Some(b("2")), "a view stays as it was");
    assert_eq!(txn.rows_written(), 1);
    txn.release_savepoints().unwrap();
    txn.commit(Durability::Sync).await.unwrap();
    assert_eq!(world.committed(), [(b("a"), b("1"))]);
}

#[tokio::test]
async fn what_a_savepoint_keeps_counts_as_memory_until_it_is_released() {
    let world = World::new(MapStore::new());
    let mut txn = world.begin_with(TransactionOptions { max_write_bytes: 2000, ..TransactionOptions::default() });
    txn.savepoint().unwrap();
    let mut kept = 0;
    while txn.put(T, F, b("a"), b("1")).await.is_ok() {
        txn.end_statement().unwrap();
        kept += 1;
        assert!(kept < 1000, "the limit is never reached");
    }
    txn.release_savepoints().unwrap();
    txn.put(T, F, b("a"), b("1")).await.unwrap();
}
