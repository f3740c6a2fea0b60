//! Rows and entries written one by one, by processes that stop between any two calls. Checks that the entries of rows
//! exist, verified entries are valid, and unique values are unique.
//!
//! `BENNU_DUAL_CYCLES` and `BENNU_DUAL_SEED` allow longer runs. The patience with writers is only a millisecond, so
//! that repairs and writers always conflict.

mod between;

use fragment::header;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use store::{
    Bytes, Durability, EntryRows, FamilyId, FamilySpec, KeyRange, PointRead, ScanRequest, Store, StoreError,
    StoreResult, SystemClock, TableChange, TableId, TableSpec, WriteBatch,
};
use store_testkit::{FaultPlan, FaultStore, ModelStore, Point, Random, from_environment, minimal_store};
use txn::{DualStore, LockTable, Transaction, TransactionOptions, TxnError, TxnResult};

const F: FamilyId = FamilyId(0);
const ROWS: TableId = TableId(20);
/// The index on the first value, including the second one.
const PLAIN: TableId = TableId(21);
/// The index on the second value.
const UNIQUE: TableId = TableId(22);
const PATIENCE: Duration = Duration::from_millis(1);

/// Two values; the second one is unique unless it is 0.
type Values = [u8; 2];

fn fragment_of(payload: &[u8]) -> Bytes {
    let mut fragment = header::marked(0);
    fragment.extend_from_slice(payload);
    fragment.into()
}

fn values(fragment: &[u8]) -> Values {
    fragment[header::LEN..].try_into().unwrap()
}

/// The entries of a row.
fn entry_in(index: TableId, rowkey: &[u8], [a, u]: Values) -> Option<(Bytes, Bytes)> {
    match index {
        // A partial index: rows with 0 have no entry.
        PLAIN if a > 0 => Some(([&[a], rowkey].concat().into(), fragment_of(&[u]))),
        UNIQUE => Some(([&[u], rowkey].concat().into(), fragment_of(&[]))),
        _ => None,
    }
}

#[derive(Debug)]
struct Of(TableId);

impl EntryRows for Of {
    fn rows(&self) -> TableId {
        ROWS
    }

    fn rowkey(&self, entry: &[u8]) -> StoreResult<Bytes> {
        Ok(Bytes::copy_from_slice(&entry[1..]))
    }

    fn entry(&self, rowkey: &[u8], fragment: &[u8]) -> StoreResult<Option<(Bytes, Bytes)>> {
        Ok(entry_in(self.0, rowkey, values(fragment)))
    }

    fn unique_prefix(&self, entry: &[u8]) -> StoreResult<Option<usize>> {
        Ok((self.0 == UNIQUE && entry[0] > 0).then_some(1))
    }
}

async fn shared() -> Arc<dyn Store> {
    let store = minimal_store(ModelStore::new());
    for id in [ROWS, PLAIN, UNIQUE] {
        let table = TableSpec { id, families: vec![FamilySpec::new(F)], splits: Vec::new() };
        let batch = WriteBatch { tables: vec![TableChange::Create(table)], ..WriteBatch::default() };
        let made = store.apply(batch, Durability::Sync).await.unwrap();
        store.sync(made).await.unwrap();
    }
    store
}

struct Process {
    store: Arc<dyn Store>,
    dual: DualStore,
    locks: Arc<LockTable>,
    plan: FaultPlan,
}

impl Process {
    fn on(store: &Arc<dyn Store>) -> Self {
        let plan = FaultPlan::new();
        let faulty = Arc::new(FaultStore::new(Arc::clone(store), plan.clone()));
        let dual = DualStore::new(faulty, Arc::new(SystemClock), PATIENCE);
        dual.know(PLAIN, Arc::new(Of(PLAIN)));
        dual.know(UNIQUE, Arc::new(Of(UNIQUE)));
        Self { store: Arc::new(dual.clone()), dual, locks: Arc::new(LockTable::new()), plan }
    }

    /// Updates or deletes rows in one transaction. Returns false if a unique value is taken.
    async fn write(&self, changes: &[(u8, Option<Values>)]) -> TxnResult<bool> {
        match self.begun(changes).await? {
            Some(txn) => txn.commit(Durability::Buffered).await.map(|_| true),
            None => Ok(false),
        }
    }

    /// The transaction before its commit; `None` if a unique value is taken.
    async fn begun(&self, changes: &[(u8, Option<Values>)]) -> TxnResult<Option<Transaction>> {
        let mut txn = Transaction::begin(Arc::clone(&self.store), &self.locks, TransactionOptions::default());
        txn.begin_statement().await?;
        for (k, new) in changes {
            let key = Bytes::copy_from_slice(&[*k]);
            let old = txn.get_newest(ROWS, F, &key).await?.map(|row| values(&row));
            if old == *new {
                continue;
            }
            for index in [PLAIN, UNIQUE] {
                let (before, after) =
                    (old.and_then(|it| entry_in(index, &key, it)), new.and_then(|it| entry_in(index, &key, it)));
                if before == after {
                    continue;
                }
                if let Some((gone, _)) = before {
                    txn.delete(index, F, gone).await?;
                }
                let Some((entry, fragment)) = after else { continue };
                if index == UNIQUE && entry[0] > 0 {
                    if txn.find_newest(index, F, &entry.slice(..1)).await?.is_some() {
                        return Ok(None);
                    }
                    txn.put_with_prefix(index, F, (entry, fragment), 1).await?;
                } else {
                    txn.put(index, F, entry, fragment).await?;
                }
            }
            match new {
                Some(values) => txn.put(ROWS, F, key, fragment_of(values)).await?,
                None if old.is_some() => txn.delete(ROWS, F, key).await?,
                None => {}
            }
            txn.end_statement()?;
        }
        Ok(Some(txn))
    }

    async fn all(&self, table: TableId) -> StoreResult<BTreeMap<Bytes, Bytes>> {
        all(&self.store, table).await
    }
}

async fn all(store: &Arc<dyn Store>, table: TableId) -> StoreResult<BTreeMap<Bytes, Bytes>> {
    let last = store.apply(WriteBatch::default(), Durability::Buffered).await?;
    let snapshot = store.snapshot(last).await?;
    let mut request = ScanRequest::new(table, F, vec![KeyRange::all()]);
    request.batch_rows = 3;
    let mut scan = store.scan(request, &snapshot).await?;
    let mut rows = BTreeMap::new();
    while let Some(batch) = scan.next().await? {
        let pairs = batch.keys().zip(batch.fragments());
        rows.extend(pairs.map(|(key, fragment)| (Bytes::copy_from_slice(key), Bytes::copy_from_slice(fragment))));
    }
    Ok(rows)
}

/// Checks the invariants without concurrent writers, in the bytes of the store and through a reader.
async fn holds(raw: &Arc<dyn Store>, when: &str) {
    let is_row = |fragment: &Bytes| header::marks_of(fragment) & header::VOID == 0;
    let mut rows = all(raw, ROWS).await.unwrap();
    rows.retain(|_, fragment| is_row(fragment));
    let mut unique = BTreeSet::new();
    for index in [PLAIN, UNIQUE] {
        let stored = all(raw, index).await.unwrap();
        let mut expected = BTreeMap::new();
        for (key, row) in &rows {
            let Some((entry, fragment)) = entry_in(index, key, values(row)) else { continue };
            assert!(stored.contains_key(&entry), "{when}: row {key:?} {row:?} is without its entry");
            if index == UNIQUE && entry[0] > 0 {
                assert!(unique.insert(entry[0]), "{when}: {} twice", entry[0]);
                let reserved = stored.get(&entry[..1]).expect("a reservation");
                assert_eq!(&reserved[header::LEN..], key.as_ref(), "{when}");
            }
            expected.insert(entry, fragment);
        }
        for (key, fragment) in stored.iter().filter(|(_, fragment)| header::marks_of(fragment) == 0) {
            let Some(right) = expected.get(key) else {
                panic!("{when}: {index:?} has a verified entry of no row, {key:?} {fragment:?}; rows {rows:?}")
            };
            assert_eq!(fragment[header::LEN..], right[header::LEN..], "{when}: a verified entry is wrong");
        }
        let read = Process::on(raw).all(index).await.unwrap();
        let bare = |all: &BTreeMap<Bytes, Bytes>| -> Vec<(Bytes, Bytes)> {
            all.iter().map(|(key, fragment)| (key.clone(), fragment.slice(header::LEN..))).collect()
        };
        assert_eq!(bare(&read), bare(&expected), "{when}");
    }
}

fn byte(random: &mut Random, limit: u64) -> u8 {
    u8::try_from(random.below(limit)).unwrap()
}

fn change(random: &mut Random) -> (u8, Option<Values>) {
    let values = (random.below(4) > 0).then(|| [byte(random, 3), byte(random, 4)]);
    (byte(random, 3), values)
}

fn gone() -> StoreError {
    StoreError::Io { action: "write".into(), reason: "the process died".into() }
}

fn is_an_end(error: &TxnError) -> bool {
    matches!(
        error,
        TxnError::RowChanged { .. }
            | TxnError::PartlyCommitted { .. }
            | TxnError::Store(
                StoreError::Io { .. } | StoreError::ConditionFailed { .. } | StoreError::Unsupported { .. }
            )
    )
}

async fn writer(store: Arc<dyn Store>, mut random: Random) {
    let process = Process::on(&store);
    if random.below(3) > 0 {
        let point = if random.below(2) == 0 { Point::Apply } else { Point::AfterApply };
        process.plan.fail_from(point, usize::try_from(random.below(60)).unwrap() + 1, gone());
    }
    for point in [Point::Apply, Point::AfterApply, Point::Get] {
        process.plan.delay(point, usize::try_from(random.below(4)).unwrap());
    }
    for _ in 0..10 {
        let changes: Vec<_> = (0..=random.below(5) / 3).map(|_| change(&mut random)).collect();
        if let Err(error) = process.write(&changes).await {
            assert!(is_an_end(&error), "{error}");
        }
        if process.plan.struck() > 0 {
            return;
        }
    }
}

/// A reader, which repairs entries and checks that it only sees valid ones.
async fn reader(store: Arc<dyn Store>, done: Arc<AtomicBool>) {
    let process = Process::on(&store);
    process.plan.delay(Point::Apply, 2);
    while !done.load(Ordering::Relaxed) {
        for index in [PLAIN, UNIQUE] {
            let entries = process.all(index).await.unwrap();
            assert!(entries.values().all(|fragment| header::marks_of(fragment) == 0));
            // A row that is never written is always found.
            let stays = entries.keys().filter(|key| key[1..] == [200]).count();
            assert_eq!(stays, 1);
        }
        process.dual.repair_index(UNIQUE, true).await.unwrap_or_default();
        tokio::task::yield_now().await;
    }
}

async fn cycle(seed: u64) {
    let mut random = Random::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 1);
    let store = shared().await;
    assert!(Process::on(&store).write(&[(200, Some([2, 200]))]).await.unwrap());
    for round in 0..4 {
        let done = Arc::new(AtomicBool::new(false));
        let reading = tokio::spawn(reader(Arc::clone(&store), Arc::clone(&done)));
        let mut writers = Vec::new();
        for _ in 0..3 {
            writers.push(tokio::spawn(writer(Arc::clone(&store), Random::new(random.below(1 << 30)))));
        }
        for writer in writers {
            writer.await.unwrap();
        }
        done.store(true, Ordering::Relaxed);
        reading.await.unwrap();
        holds(&store, &format!("seed {seed}, round {round}")).await;
    }
    // A later process repairs everything.
    tokio::time::sleep(3 * PATIENCE).await;
    let process = Process::on(&store);
    for index in [PLAIN, UNIQUE] {
        process.dual.repair_index(index, true).await.unwrap();
    }
    let entries = [all(&store, PLAIN).await.unwrap(), all(&store, UNIQUE).await.unwrap()];
    let unverified = |fragment: &&Bytes| header::marks_of(fragment) & header::UNVERIFIED != 0;
    assert_eq!(entries.iter().flat_map(BTreeMap::values).filter(unverified).count(), 0, "seed {seed}");
    let reserved = entries[1].values().filter(|it| header::marks_of(it) == header::RESERVED).count();
    let rows = all(&store, ROWS).await.unwrap();
    assert!(rows.values().all(|row| header::marks_of(row) == 0), "seed {seed}");
    assert_eq!(reserved, rows.values().filter(|row| values(row)[1] > 0).count(), "seed {seed}");
    holds(&store, &format!("seed {seed}, repaired")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_that_stop_anywhere_leave_what_rows_say() {
    let first = from_environment("BENNU_DUAL_SEED", 1);
    for seed in first..first + from_environment("BENNU_DUAL_CYCLES", 40) {
        cycle(seed).await;
    }
}

/// Each kind of change, stopped before and after each of its calls.
#[tokio::test]
async fn a_stop_between_any_two_steps_leaves_what_rows_say() {
    let changes: [&[(u8, Option<Values>)]; 6] = [
        &[(1, Some([1, 1]))],
        &[(2, Some([1, 3]))],
        &[(2, Some([2, 2]))],
        &[(2, None)],
        &[(2, None), (3, Some([1, 2]))],
        &[(2, Some([2, 4])), (4, Some([0, 2]))],
    ];
    let mut stops = 0;
    for change in changes {
        for point in [Point::Apply, Point::AfterApply] {
            for step in 1.. {
                let store = shared().await;
                let before = [(2, Some([2, 2])), (4, Some([2, 0]))];
                assert!(Process::on(&store).write(&before).await.unwrap());
                let dying = Process::on(&store);
                dying.plan.fail_from(point, step, gone());
                let ended = dying.write(change).await;
                if dying.plan.struck() == 0 {
                    assert!(ended.unwrap());
                    break;
                }
                stops += 1;
                let when = format!("{change:?} {point:?} {step}");
                holds(&store, &when).await;
                let other = Process::on(&store);
                for (k, values) in change {
                    if let Err(error) = other.write(&[(*k, *values)]).await {
                        assert!(is_an_end(&error), "{when}: {error}");
                    }
                }
                holds(&store, &when).await;
            }
        }
    }
    assert!(stops > 100, "{stops}");
}

/// The row of a stale reservation is rewritten before the value is taken over. The same transaction may write that row
/// next.
#[tokio::test]
async fn a_value_is_taken_over_from_a_row_of_the_same_transaction() {
    for step in 1.. {
        let store = shared().await;
        assert!(Process::on(&store).write(&[(1, Some([1, 1])), (2, Some([1, 2])), (3, Some([1, 5]))]).await.unwrap());
        let dying = Process::on(&store);
        dying.plan.fail_from(Point::Apply, step, gone());
        let ended = dying.write(&[(2, Some([1, 3])), (3, Some([1, 6]))]).await;
        if dying.plan.struck() == 0 {
            assert!(ended.unwrap() && step > 10, "{step}");
            break;
        }
        tokio::time::sleep(2 * PATIENCE).await;
        let (other, changes) = (Process::on(&store), [(2, Some([1, 4])), (1, Some([1, 2])), (3, Some([1, 7]))]);
        let mut written = other.write(&changes).await;
        if matches!(written, Err(TxnError::RowChanged { .. })) {
            // The attempt repaired entries, and rewrote a row that it had read.
            written = other.write(&changes).await;
        }
        assert!(written.unwrap(), "{step}");
        holds(&store, &format!("step {step}")).await;
    }
}

/// Moves unique values between rows: a chain succeeds, an exchange is refused.
#[tokio::test]
async fn values_are_handed_on_and_not_exchanged() {
    let store = shared().await;
    let process = Process::on(&store);
    assert!(process.write(&[(1, Some([1, 1])), (2, Some([1, 2])), (3, Some([1, 3]))]).await.unwrap());
    assert!(process.write(&[(3, Some([1, 4])), (2, Some([1, 3])), (1, Some([1, 2]))]).await.unwrap());
    holds(&store, "handed on").await;
    assert!(!process.write(&[(1, Some([1, 3]))]).await.unwrap());
    // Through a value that only the transaction sees.
    let exchanged = process.write(&[(1, Some([1, 9])), (2, Some([1, 2])), (1, Some([1, 3]))]).await;
    assert!(matches!(exchanged, Err(TxnError::Store(StoreError::Unsupported { .. }))), "{exchanged:?}");
    holds(&store, "not exchanged").await;
}

/// The first steps of the failed commit are invisible until synced, and would keep later commits of others invisible.
#[tokio::test]
async fn a_commit_that_fails_between_two_steps_keeps_nobody_waiting() {
    let store = shared().await;
    let (late, early) = (Process::on(&store), Process::on(&store));
    let refused = late.begun(&[(1, Some([1, 5]))]).await.unwrap().unwrap();
    assert!(early.write(&[(2, Some([1, 5]))]).await.unwrap());
    let failed = refused.commit(Durability::Sync).await;
    assert!(matches!(failed, Err(TxnError::RowChanged { table: UNIQUE, .. })), "{failed:?}");
    let last = store.apply(WriteBatch::default(), Durability::Buffered).await.unwrap();
    let shown = tokio::time::timeout(Duration::from_secs(10), store.snapshot(last)).await;
    shown.expect("the steps of the failed commit are hidden").unwrap();
}

/// Otherwise it would stay invisible, and keep later commits of others invisible.
#[tokio::test]
async fn a_commit_that_nobody_waits_for_any_more_is_synced() {
    let store = shared().await;
    let process = Process::on(&store);
    process.plan.delay(Point::Sync, 1000);
    let txn = process.begun(&[(1, Some([1, 5]))]).await.unwrap().unwrap();
    let written = async {
        while store.get_newest(ROWS, F, &[1]).await.unwrap().is_none_or(|row| row.len() == header::LEN) {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        biased;
        ended = txn.commit(Durability::Sync) => panic!("nothing to wait for: {ended:?}"),
        () = written => {}
    }
    let last = store.apply(WriteBatch::default(), Durability::Buffered).await.unwrap();
    let shown = tokio::time::timeout(Duration::from_secs(10), store.snapshot(last)).await;
    shown.expect("the commit is hidden").unwrap();
}
