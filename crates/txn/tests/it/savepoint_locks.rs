//! A rollback to a savepoint releases the locks acquired since.

use crate::map_store::MapStore;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::{Bytes, Store, TableId};
use txn::{LockMode, LockTable, LockTarget, LockWait, Obtained, Savepoint, Transaction, TransactionOptions, TxnError};

const T: TableId = TableId(16);
const OTHER: TableId = TableId(17);

fn row(n: u32) -> Bytes {
    Bytes::from(n.to_be_bytes().to_vec())
}

fn begin(locks: &Arc<LockTable>) -> Transaction {
    Transaction::begin(MapStore::new() as Arc<dyn Store>, locks, TransactionOptions::default())
}

async fn lock(txn: &mut Transaction, n: u32, mode: LockMode) -> Obtained {
    txn.lock_row(T, &row(n), mode, LockWait::Never).await.unwrap()
}

/// Whether another transaction could lock the row in this mode now.
async fn is_free(locks: &Arc<LockTable>, n: u32, mode: LockMode) -> bool {
    begin(locks).lock_row(T, &row(n), mode, LockWait::Never).await.is_ok()
}

#[tokio::test]
async fn who_waits_for_a_lock_taken_since_gets_it_and_older_ones_stay() {
    let locks = Arc::new(LockTable::new());
    let mut txn = begin(&locks);
    lock(&mut txn, 1, LockMode::Exclusive).await;
    let outer = txn.savepoint().unwrap();
    lock(&mut txn, 1, LockMode::Exclusive).await;
    lock(&mut txn, 2, LockMode::Exclusive).await;
    let inner = txn.savepoint().unwrap();
    lock(&mut txn, 3, LockMode::Exclusive).await;
    let waits = |n| {
        let mut waiter = begin(&locks);
        tokio::spawn(async move { waiter.lock_row(T, &row(n), LockMode::Exclusive, LockWait::Forever).await })
    };
    let (second, third) = (waits(2), waits(3));
    tokio::task::yield_now().await;
    txn.rollback_to(inner).unwrap();
    assert_eq!(third.await.unwrap(), Ok(Obtained::AfterWait));
    assert!(!second.is_finished());
    txn.rollback_to(outer).unwrap();
    assert_eq!(second.await.unwrap(), Ok(Obtained::AfterWait));
    assert!(!is_free(&locks, 1, LockMode::KeyShare).await);
    // The savepoint still exists.
    assert_eq!(lock(&mut txn, 2, LockMode::Exclusive).await, Obtained::AtOnce);
    txn.rollback_to(outer).unwrap();
    assert!(is_free(&locks, 2, LockMode::Exclusive).await);
}

#[tokio::test]
async fn a_lock_that_was_made_stronger_is_as_weak_as_before() {
    let locks = Arc::new(LockTable::new());
    let mut txn = begin(&locks);
    lock(&mut txn, 1, LockMode::KeyShare).await;
    txn.locks().lock_table(T, LockMode::Shared, LockWait::Never).await.unwrap();
    let savepoint = txn.savepoint().unwrap();
    lock(&mut txn, 1, LockMode::NoKeyExclusive).await;
    lock(&mut txn, 1, LockMode::Exclusive).await;
    txn.locks().lock_table(T, LockMode::Exclusive, LockWait::Never).await.unwrap();
    assert_eq!(lock(&mut txn, 2, LockMode::Exclusive).await, Obtained::Before, "the table is enough");
    txn.rollback_to(savepoint).unwrap();
    assert!(is_free(&locks, 1, LockMode::NoKeyExclusive).await);
    assert!(!is_free(&locks, 1, LockMode::Exclusive).await);
    let mut other = begin(&locks);
    other.locks().lock_table(T, LockMode::Shared, LockWait::Never).await.unwrap();
    let refused = other.locks().lock_table(T, LockMode::Exclusive, LockWait::Never).await;
    assert_eq!(refused, Err(TxnError::LockNotAvailable { waited: false }));
    assert_eq!(lock(&mut txn, 2, LockMode::Exclusive).await, Obtained::AtOnce, "rows need locks again");
}

/// A grant to a cancelled request: the previous mode is held.
#[tokio::test]
async fn a_stronger_mode_that_was_given_up_is_not_held() {
    let locks = Arc::new(LockTable::new());
    let (mut txn, mut other) = (begin(&locks), begin(&locks));
    lock(&mut txn, 1, LockMode::KeyShare).await;
    lock(&mut other, 1, LockMode::KeyShare).await;
    {
        let key = row(1);
        let mut waits = Box::pin(txn.lock_row(T, &key, LockMode::Exclusive, LockWait::Forever));
        assert!(tokio::time::timeout(std::time::Duration::ZERO, &mut waits).await.is_err());
        drop(other);
    }
    assert!(is_free(&locks, 1, LockMode::NoKeyExclusive).await);
}

#[tokio::test]
async fn very_many_rows_locked_since_give_way_to_the_table_and_it_goes_back_with_them() {
    let locks = Arc::new(LockTable::new());
    let mut txn = begin(&locks);
    txn.locks().lock_table(T, LockMode::Shared, LockWait::Never).await.unwrap();
    lock(&mut txn, 0, LockMode::Shared).await;
    lock(&mut txn, 1, LockMode::Exclusive).await;
    let savepoint = txn.savepoint().unwrap();
    for n in 0..=100_000 {
        lock(&mut txn, n, LockMode::Exclusive).await;
    }
    assert_eq!(txn.locks().len(), 4, "both rows of before, and the table twice");
    txn.rollback_to(savepoint).unwrap();
    let mut other = begin(&locks);
    other.locks().lock_table(T, LockMode::Shared, LockWait::Never).await.unwrap();
    assert_eq!(lock(&mut other, 2, LockMode::Exclusive).await, Obtained::AtOnce);
    assert!(!is_free(&locks, 0, LockMode::NoKeyExclusive).await);
    assert!(is_free(&locks, 0, LockMode::Shared).await);
    assert!(!is_free(&locks, 1, LockMode::KeyShare).await);
}

/// A table that is not locked any more may change before its next write.
#[tokio::test]
async fn the_version_of_a_table_is_forgotten_with_its_lock() {
    let locks = Arc::new(LockTable::new());
    let mut txn = begin(&locks);
    txn.locks().lock_table(T, LockMode::Shared, LockWait::Never).await.unwrap();
    txn.note_epoch(T, 1);
    let savepoint = txn.savepoint().unwrap();
    for table in [T, OTHER] {
        txn.locks().lock_table(table, LockMode::Exclusive, LockWait::Never).await.unwrap();
        txn.note_epoch(table, 2);
    }
    txn.rollback_to(savepoint).unwrap();
    assert_eq!(txn.epochs(), &BTreeMap::from([(T, 1)]));
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Row(u32, LockMode),
    Table(u32, LockMode),
    Savepoint,
    RollbackTo(usize),
    ReleaseAll,
}

fn step() -> impl Strategy<Value = Step> {
    use LockMode::{Exclusive, KeyShare, NoKeyExclusive, Shared};
    let mode = || prop::sample::select(vec![KeyShare, Shared, NoKeyExclusive, Exclusive]);
    prop_oneof![
        6 => (0..4_u32, mode()).prop_map(|(n, mode)| Step::Row(n, mode)),
        2 => (0..2_u32, prop::sample::select(vec![Shared, Exclusive])).prop_map(|(n, mode)| Step::Table(n, mode)),
        2 => Just(Step::Savepoint),
        2 => (0..8_usize).prop_map(Step::RollbackTo),
        1 => Just(Step::ReleaseAll),
    ]
}

/// Each lock in the strongest mode requested.
type Model = BTreeMap<(bool, u32), LockMode>;

fn held(locks: &LockTable) -> Model {
    let place = |target: LockTarget| match target {
        LockTarget::Row(_, key) => (true, u32::from_be_bytes(key.as_ref().try_into().unwrap())),
        LockTarget::Table(table) => (false, table.0),
        LockTarget::Advisory(_) => unreachable!(),
    };
    locks.locks().into_iter().map(|lock| (place(lock.target), lock.mode)).collect()
}

async fn run(steps: Vec<Step>) {
    let locks = Arc::new(LockTable::new());
    let mut txn = begin(&locks);
    let (mut model, mut savepoints) = (Model::new(), Vec::<(Savepoint, Model)>::new());
    for step in steps {
        match step {
            Step::Row(n, mode) => {
                lock(&mut txn, n, mode).await;
                // The holder of an exclusive table lock needs no row locks.
                if model.get(&(false, T.0)) != Some(&LockMode::Exclusive) {
                    let held = model.entry((true, n)).or_insert(mode);
                    *held = mode.max(*held);
                }
            }
            Step::Table(n, mode) => {
                txn.locks().lock_table(TableId(T.0 + n), mode, LockWait::Never).await.unwrap();
                let held = model.entry((false, T.0 + n)).or_insert(mode);
                *held = mode.max(*held);
            }
            Step::Savepoint => savepoints.push((txn.savepoint().unwrap(), model.clone())),
            Step::RollbackTo(which) if !savepoints.is_empty() => {
                savepoints.truncate(which % savepoints.len() + 1);
                let (savepoint, before) = savepoints.last().unwrap();
                txn.rollback_to(*savepoint).unwrap();
                model.clone_from(before);
            }
            Step::RollbackTo(_) => {}
            Step::ReleaseAll => {
                txn.release_savepoints().unwrap();
                savepoints.clear();
            }
        }
        assert_eq!(held(&locks), model);
    }
    txn.rollback();
    assert_eq!(locks.locks(), []);
}

proptest! {
    #[test]
    fn locks_go_back_as_maps_would(steps in prop::collection::vec(step(), 1..60)) {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(run(steps));
    }
}
