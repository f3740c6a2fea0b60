//! Locks: conflicts, grant order, and refused requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use store::{Bytes, TableId};
use tokio::sync::mpsc;
use txn::{LockMode, LockOwner, LockTable, LockWait, Obtained, TxnError};

const T: TableId = TableId(16);

fn row(n: u64) -> Bytes {
    Bytes::from(n.to_be_bytes().to_vec())
}

fn owner(table: &Arc<LockTable>) -> LockOwner {
    LockOwner::new(Arc::clone(table))
}

/// Lets all runnable tasks run.
async fn let_others_run() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_row_is_free_then_mine_then_free_again() {
    let table = Arc::new(LockTable::new());
    let mut a = owner(&table);
    let mut b = owner(&table);
    assert_eq!(a.lock_row(T, &row(1), LockMode::Exclusive, LockWait::Forever).await, Ok(Obtained::AtOnce));
    assert_eq!(a.lock_row(T, &row(1), LockMode::Exclusive, LockWait::Forever).await, Ok(Obtained::Before));
    assert_eq!(b.lock_row(T, &row(2), LockMode::Exclusive, LockWait::Never).await, Ok(Obtained::AtOnce));
    assert_eq!(b.lock_row(TableId(17), &row(1), LockMode::Exclusive, LockWait::Never).await, Ok(Obtained::AtOnce));
    let refused = b.lock_row(T, &row(1), LockMode::Exclusive, LockWait::Never).await;
    assert_eq!(refused, Err(TxnError::LockNotAvailable { waited: false }));
    assert_eq!(a.len(), 1);
    drop(a);
    assert_eq!(b.lock_row(T, &row(1), LockMode::Exclusive, LockWait::Never).await, Ok(Obtained::AtOnce));
    drop(b);
    assert_eq!(table.locks(), [], "nothing is left behind");
}

#[tokio::test]
async fn a_table_lock_is_not_a_lock_on_the_row_with_the_empty_key() {
    let table = Arc::new(LockTable::new());
    let (mut a, mut b) = (owner(&table), owner(&table));
    a.lock_table(T, LockMode::Exclusive, LockWait::Forever).await.unwrap();
    assert_eq!(b.lock_row(T, &Bytes::new(), LockMode::Exclusive, LockWait::Never).await, Ok(Obtained::AtOnce));
}

#[tokio::test]
async fn locks_are_granted_in_the_order_of_asking() {
    let table = Arc::new(LockTable::new());
    let mut first = owner(&table);
    first.lock_row(T, &row(1), LockMode::Exclusive, LockWait::Forever).await.unwrap();
    let (said, mut heard) = mpsc::unbounded_channel();
    for n in 0..10 {
        let mut waiter = owner(&table);
        let said = said.clone();
        tokio::spawn(async move {
            assert_eq!(
                waiter.lock_row(T, &row(1), LockMode::Exclusive, LockWait::Forever).await,
                Ok(Obtained::AfterWait)
            );
            said.send(n).unwrap();
        });
        let_others_run().await;
    }
    drop(first);
    for n in 0..10 {
        assert_eq!(heard.recv().await, Some(n));
    }
}

#[tokio::test]
async fn a_sharer_does_not_overtake_one_that_wants_the_table_alone() {
    let table = Arc::new(LockTable::new());
    let mut reader = owner(&table);
    reader.lock_table(T, LockMode::Shared, LockWait::Forever).await.unwrap();
    let mut ddl = owner(&table);
    let alone = tokio::spawn(async move {
        ddl.lock_table(T, LockMode::Exclusive, LockWait::Forever).await.unwrap();
        ddl
    });
    let_others_run().await;
    let mut late = owner(&table);
    let refused = late.lock_table(T, LockMode::Shared, LockWait::Never).await;
    assert_eq!(refused, Err(TxnError::LockNotAvailable { waited: false }));
    // A holder may request the lock again without queueing.
    assert_eq!(reader.lock_table(T, LockMode::Shared, LockWait::Never).await, Ok(Obtained::Before));
    drop(reader);
    let ddl = alone.await.unwrap();
    let (said, mut heard) = mpsc::unbounded_channel();
    for _ in 0..3 {
        let (mut sharer, said) = (owner(&table), said.clone());
        tokio::spawn(async move {
            sharer.lock_table(T, LockMode::Shared, LockWait::Forever).await.unwrap();
            said.send(()).unwrap();
            std::future::pending::<()>().await;
        });
    }
    let_others_run().await;
    assert!(heard.try_recv().is_err());
    drop(ddl);
    for _ in 0..3 {
        assert_eq!(heard.recv().await, Some(()), "all sharers are let in together");
    }
}

#[tokio::test]
async fn a_sharer_that_is_alone_may_become_exclusive() {
    let table = Arc::new(LockTable::new());
    let (mut a, mut b) = (owner(&table), owner(&table));
    a.lock_table(T, LockMode::Shared, LockWait::Forever).await.unwrap();
    assert_eq!(a.lock_table(T, LockMode::Exclusive, LockWait::Never).await, Ok(Obtained::Before));
    let refused = b.lock_table(T, LockMode::Shared, LockWait::Never).await;
    assert_eq!(refused, Err(TxnError::LockNotAvailable { waited: false }));
    drop(a);
    assert_eq!(table.locks(), []);
}

#[tokio::test]
async fn an_upgrade_waits_for_the_other_sharers_and_two_upgrades_are_a_deadlock() {
    let table = Arc::new(LockTable::new());
    let (mut a, mut b) = (owner(&table), owner(&table));
    a.lock_table(T, LockMode::Shared, LockWait::Forever).await.unwrap();
    b.lock_table(T, LockMode::Shared, LockWait::Forever).await.unwrap();
    let upgrade = tokio::spawn(async move {
        let obtained = a.lock_table(T, LockMode::Exclusive, LockWait::Forever).await;
        (obtained, a)
    });
    let_others_run().await;
    let refused = b.lock_table(T, LockMode::Exclusive, LockWait::Forever).await;
    assert!(matches!(refused, Err(TxnError::Deadlock { .. })), "{refused:?}");
    drop(b);
    let (obtained, a) = upgrade.await.unwrap();
    assert_eq!(obtained, Ok(Obtained::AfterWait));
    drop(a);
    assert_eq!(table.locks(), []);
}

#[tokio::test]
async fn of_two_that_wait_for_each_other_the_second_is_refused_and_the_first_goes_on() {
    let table = Arc::new(LockTable::new());
    let (mut a, mut b) = (owner(&table), owner(&table));
    let (id_a, id_b) = (a.id(), b.id());
    a.lock_row(T, &row(1), LockMode::Exclusive, LockWait::Forever).await.unwrap();
    b.lock_row(T, &row(2), LockMode::Exclusive, LockWait::Forever).await.unwrap();
    let waits = tokio::spawn(async move { a.lock_row(T, &row(2), LockMode::Exclusive, LockWait::Forever).await });
    let_others_run().await;
    let refused = b.lock_row(T, &row(1), LockMode::Exclusive, LockWait::Forever).await;
    assert_eq!(refused, Err(TxnError::Deadlock { circle: vec![id_b, id_a] }));
    drop(b);
    assert_eq!(waits.await.unwrap(), Ok(Obtained::AfterWait));
}

#[tokio::test]
async fn a_circle_that_runs_through_a_line_of_waiters_is_found() {
    let table = Arc::new(LockTable::new());
    let (mut a, mut b, mut c) = (owner(&table), owner(&table), owner(&table));
    a.lock_table(T, LockMode::Shared, LockWait::Forever).await.unwrap();
    c.lock_row(T, &row(9), LockMode::Exclusive, LockWait::Forever).await.unwrap();
    // b waits for a; c queues after b; a waits for c.
    let b = tokio::spawn(async move { b.lock_table(T, LockMode::Exclusive, LockWait::Forever).await });
    let_others_run().await;
    let c = tokio::spawn(async move {
        let obtained = c.lock_table(T, LockMode::Shared, LockWait::Forever).await;
        (obtained, c)
    });
    let_others_run().await;
    let refused = a.lock_row(T, &row(9), LockMode::Exclusive, LockWait::Forever).await;
    assert!(matches!(&refused, Err(TxnError::Deadlock { .. })), "{refused:?}");
    drop(a);
    assert_eq!(b.await.unwrap(), Ok(Obtained::AfterWait));
    assert_eq!(c.await.unwrap().0, Ok(Obtained::AfterWait));
}

#[tokio::test]
async fn a_wait_that_times_out_or_is_given_up_leaves_the_line() {
    let table = Arc::new(LockTable::new());
    let mut a = owner(&table);
    a.lock_row(T, &row(1), LockMode::Exclusive, LockWait::Forever).await.unwrap();
    let mut b = owner(&table);
    let begun = Instant::now();
    let refused = b.lock_row(T, &row(1), LockMode::Exclusive, LockWait::AtMost(Duration::from_millis(20))).await;
    assert_eq!(refused, Err(TxnError::LockNotAvailable { waited: true }));
    assert!(begun.elapsed() >= Duration::from_millis(20));
    let given_up =
        tokio::time::timeout(Duration::from_millis(5), b.lock_row(T, &row(1), LockMode::Exclusive, LockWait::Forever))
            .await;
    assert!(given_up.is_err());
    assert_eq!(table.locks().len(), 1, "only the holder is left");
    drop(a);
    assert_eq!(table.locks(), []);
    assert_eq!(b.lock_row(T, &row(1), LockMode::Exclusive, LockWait::Never).await, Ok(Obtained::AtOnce));
}

#[tokio::test]
async fn a_lock_granted_to_one_that_has_just_given_up_goes_to_the_next() {
    let table = Arc::new(LockTable::new());
    let (mut a, mut b, mut c) = (owner(&table), owner(&table), owner(&table));
    a.lock_row(T, &row(1), LockMode::Exclusive, LockWait::Forever).await.unwrap();
    let key = row(1);
    let mut waits = Box::pin(b.lock_row(T, &key, LockMode::Exclusive, LockWait::Forever));
    assert!(futures_poll(waits.as_mut()).await.is_none());
    drop(a);
    // Granted, but never polled again.
    drop(waits);
    assert!(b.is_empty());
    assert_eq!(c.lock_row(T, &row(1), LockMode::Exclusive, LockWait::Never).await, Ok(Obtained::AtOnce));
}

/// Polls once.
async fn futures_poll<F: Future + Unpin>(mut future: F) -> Option<F::Output> {
    std::future::poll_fn(|context| {
        std::task::Poll::Ready(match std::pin::Pin::new(&mut future).poll(context) {
            std::task::Poll::Ready(output) => Some(output),
            std::task::Poll::Pending => None,
        })
    })
    .await
}

/// Many tasks lock a few rows in random order, on real threads: no two hold a row together, all make progress
/// (deadlocks are retried), and no locks remain.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn under_contention_each_row_has_one_holder_and_everybody_gets_on() {
    const ROWS: u64 = 6;
    let table = Arc::new(LockTable::new());
    let holders: Arc<Vec<AtomicU64>> = Arc::new((0..ROWS).map(|_| AtomicU64::new(0)).collect());
    let deadlocks = Arc::new(AtomicU64::new(0));
    let task = |seed: u64| {
        let (table, holders, deadlocks) = (Arc::clone(&table), Arc::clone(&holders), Arc::clone(&deadlocks));
        async move {
            let mut random = seed;
            let mut done = 0;
            while done < 200 {
                let mut owner = owner(&table);
                let mut held = Vec::new();
                let mut refused = false;
                for _ in 0..3 {
                    random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    let n = (random >> 33) % ROWS;
                    match owner.lock_row(T, &row(n), LockMode::Exclusive, LockWait::Forever).await {
                        Ok(Obtained::Before) => {}
                        Ok(_) => {
                            assert_eq!(holders[n as usize].swap(seed, Ordering::SeqCst), 0, "row {n} had a holder");
                            held.push(n);
                        }
                        Err(TxnError::Deadlock { .. }) => refused = true,
                        Err(error) => panic!("{error}"),
                    }
                    if refused {
                        break;
                    }
                    tokio::task::yield_now().await;
                }
                for n in held {
                    assert_eq!(holders[n as usize].swap(0, Ordering::SeqCst), seed);
                }
                drop(owner);
                if refused {
                    deadlocks.fetch_add(1, Ordering::Relaxed);
                } else {
                    done += 1;
                }
            }
        }
    };
    let tasks: Vec<_> = (1..=16).map(|seed| tokio::spawn(task(seed))).collect();
    let all = async {
        for task in tasks {
            task.await.unwrap();
        }
    };
    tokio::time::timeout(Duration::from_secs(60), all).await.expect("a deadlock was not noticed");
    assert!(deadlocks.load(Ordering::Relaxed) > 0, "the test is meant to provoke some");
    assert_eq!(table.locks(), []);
}

/// The same for tables: shared and exclusive, upgrades, timeouts and cancelled waits, mixed.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn under_contention_an_exclusive_holder_is_alone() {
    const TABLES: u64 = 3;
    // A shared holder counts 1, an exclusive holder a million.
    const ALONE: u64 = 1_000_000;
    let table = Arc::new(LockTable::new());
    let holders: Arc<Vec<AtomicU64>> = Arc::new((0..TABLES).map(|_| AtomicU64::new(0)).collect());
    let task = |seed: u64| {
        let (table, holders) = (Arc::clone(&table), Arc::clone(&holders));
        async move {
            let mut random = seed;
            let mut next = |below: u64| {
                random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (random >> 33) % below
            };
            for _ in 0..300 {
                let mut owner = owner(&table);
                let mut held = vec![0; TABLES as usize];
                for _ in 0..next(4) {
                    let n = next(TABLES) as usize;
                    let mode = if next(3) == 0 { LockMode::Exclusive } else { LockMode::Shared };
                    let wait = match next(3) {
                        0 => LockWait::Never,
                        1 => LockWait::AtMost(Duration::from_micros(200)),
                        _ => LockWait::Forever,
                    };
                    let asked = owner.lock_table(TableId(n as u32), mode, wait);
                    let obtained = match next(4) {
                        0 => tokio::time::timeout(Duration::from_micros(300), asked).await,
                        _ => Ok(asked.await),
                    };
                    if !matches!(obtained, Ok(Ok(_))) {
                        break;
                    }
                    let weight = if mode == LockMode::Exclusive { ALONE } else { 1 };
                    if weight > held[n] {
                        let before = holders[n].fetch_add(weight - held[n], Ordering::SeqCst) - held[n];
                        let fits = if weight == ALONE { before == 0 } else { before < ALONE };
                        assert!(fits, "{mode:?} beside {before}");
                        held[n] = weight;
                    }
                    tokio::task::yield_now().await;
                }
                for (n, weight) in held.into_iter().enumerate() {
                    holders[n].fetch_sub(weight, Ordering::SeqCst);
                }
            }
        }
    };
    let tasks: Vec<_> = (1..=12).map(|seed| tokio::spawn(task(seed))).collect();
    let all = async {
        for task in tasks {
            task.await.unwrap();
        }
    };
    tokio::time::timeout(Duration::from_secs(60), all).await.expect("a deadlock was not noticed");
    assert_eq!(table.locks(), []);
}

#[tokio::test]
async fn who_locks_very_many_rows_of_a_table_takes_the_table_if_nobody_else_writes_to_it() {
    let table = Arc::new(LockTable::new());
    let (mut many, mut other) = (owner(&table), owner(&table));
    many.lock_table(T, LockMode::Shared, LockWait::Forever).await.unwrap();
    other.lock_table(T, LockMode::Shared, LockWait::Forever).await.unwrap();
    for n in 0..150_000 {
        many.lock_row(T, &row(n), LockMode::Exclusive, LockWait::Forever).await.unwrap();
    }
    assert_eq!(many.len(), 150_001, "another writer is in the way");
    drop(other);
    for n in 150_000..250_000 {
        many.lock_row(T, &row(n), LockMode::Exclusive, LockWait::Forever).await.unwrap();
    }
    assert_eq!(many.len(), 1);
    let mut late = owner(&table);
    let refused = late.lock_table(T, LockMode::Shared, LockWait::Never).await;
    assert_eq!(refused, Err(TxnError::LockNotAvailable { waited: false }));
    drop(many);
    late.lock_table(T, LockMode::Shared, LockWait::Never).await.unwrap();
    late.lock_row(T, &row(1), LockMode::Exclusive, LockWait::Never).await.unwrap();
}

/// The conflict table of PostgreSQL's documentation for the four row lock modes.
#[tokio::test]
async fn row_locks_conflict_as_in_postgresql() {
    use LockMode::{Exclusive, KeyShare, NoKeyExclusive, Shared};
    let together = [(KeyShare, KeyShare), (KeyShare, Shared), (KeyShare, NoKeyExclusive), (Shared, Shared)];
    for one in [KeyShare, Shared, NoKeyExclusive, Exclusive] {
        for other in [KeyShare, Shared, NoKeyExclusive, Exclusive] {
            let table = Arc::new(LockTable::new());
            let (mut a, mut b) = (owner(&table), owner(&table));
            a.lock_row(T, &row(1), one, LockWait::Never).await.unwrap();
            let granted = b.lock_row(T, &row(1), other, LockWait::Never).await.is_ok();
            let go = together.contains(&(one, other)) || together.contains(&(other, one));
            assert_eq!(granted, go, "{one:?} and {other:?}");
        }
    }
}

#[tokio::test]
async fn a_row_lock_is_made_stronger_when_others_let_it_go() {
    let table = Arc::new(LockTable::new());
    let (mut a, mut b, mut c) = (owner(&table), owner(&table), owner(&table));
    a.lock_row(T, &row(1), LockMode::KeyShare, LockWait::Never).await.unwrap();
    b.lock_row(T, &row(1), LockMode::KeyShare, LockWait::Never).await.unwrap();
    a.lock_row(T, &row(1), LockMode::NoKeyExclusive, LockWait::Never).await.unwrap();
    let waits = tokio::spawn(async move {
        a.lock_row(T, &row(1), LockMode::Exclusive, LockWait::Forever).await.unwrap();
        a
    });
    let_others_run().await;
    // Compatible with the holders, but not with an earlier waiter.
    assert!(c.lock_row(T, &row(1), LockMode::KeyShare, LockWait::Never).await.is_err());
    drop(b);
    let a = waits.await.unwrap();
    assert_eq!(a.len(), 1, "one lock, in its strongest mode");
    drop(a);
    assert_eq!(c.lock_row(T, &row(1), LockMode::KeyShare, LockWait::Never).await, Ok(Obtained::AtOnce));
    drop(c);
    assert_eq!(table.locks(), []);
}

/// A request that is compatible with all holders and waiters is granted, regardless of the queue.
#[tokio::test]
async fn key_share_passes_writers_that_wait_for_each_other() {
    let table = Arc::new(LockTable::new());
    let (mut a, mut b, mut c) = (owner(&table), owner(&table), owner(&table));
    a.lock_row(T, &row(1), LockMode::NoKeyExclusive, LockWait::Never).await.unwrap();
    let waits = tokio::spawn(async move { b.lock_row(T, &row(1), LockMode::NoKeyExclusive, LockWait::Forever).await });
    let_others_run().await;
    assert_eq!(c.lock_row(T, &row(1), LockMode::KeyShare, LockWait::Never).await, Ok(Obtained::AtOnce));
    drop(a);
    assert_eq!(waits.await.unwrap(), Ok(Obtained::AfterWait));
}
