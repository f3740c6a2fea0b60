//! A process in which one system call fails. Each step must succeed, or fail atomically and be retried, after a restart
//! if the store is read-only. On a disk that stays full reads continue, and an opening may fail; with space again the
//! store has everything acknowledged.

use crate::history::{self, Due, Ending, Ledger, Rows, Step};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use store::{Store, StoreError, StoreResult};
use store_fjall::FjallStore;

/// A step that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(60);
/// One fault may fail a step and, as damage that is noticed later, its retry.
const TRIES: usize = 4;

/// Bulk loads of every kind, appends, flushes, a compaction, a truncated and a dropped table, large commits to one
/// keyspace and to three, and loads into several tables by moving and appending.
pub(crate) fn script() -> Vec<Step> {
    let create = |table| Step::Create { table, families: 1 };
    let write = |table: u32, from: u64, count: u64| {
        let puts = (from..from + count).map(|number| (table, number)).collect();
        Step::Write { puts, deletes: vec![], synced: true }
    };
    let load_all = |table, beside: &[u32], first, count, sorted, ending| Step::Load {
        table,
        beside: beside.to_vec(),
        rows: Rows { first, stride: 1, count, sorted },
        replace: false,
        ending,
    };
    let load = |table, first, count, sorted, ending| load_all(table, &[], first, count, sorted, ending);
    let large = |tables: &[u32]| {
        let puts = tables.iter().flat_map(|table| (0..30).map(|number| (*table, number * 3)));
        let deletes = tables.iter().map(|table| (*table, 31));
        Step::Write { puts: puts.collect(), deletes: deletes.collect(), synced: true }
    };
    vec![
        create(1),
        create(2),
        write(1, 0, 20),
        write(2, 0, 400),
        Step::Flush { table: 2, major: false },
        load(1, 1_000, 60, false, Ending::Finish),
        load(1, 2_000, 60, true, Ending::Finish),
        write(1, 0, 5),
        load(1, 3_000, 60, true, Ending::Duplicate),
        Step::Flush { table: 1, major: true },
        Step::Truncate { table: 2, by: 3 },
        load(3, 0, 80, true, Ending::Finish),
        load(3, 1_000, 70, false, Ending::Abandon),
        write(3, 10, 30),
        Step::Flush { table: 3, major: false },
        load(3, 500, 3, false, Ending::Finish),
        Step::Drop { table: 1 },
        Step::Pause,
        create(4),
        load(4, 0, 50, true, Ending::Finish),
        write(4, 20, 20),
        create(5),
        large(&[3, 4, 5]),
        write(3, 0, 3),
        load_all(5, &[3, 4], 5_000, 60, true, Ending::Finish),
        create(6),
        create(7),
        load_all(6, &[7], 0, 60, true, Ending::Finish),
        load_all(6, &[4], 3_000, 60, false, Ending::Duplicate),
        write(7, 10, 5),
    ]
}

/// The file that ends a lasting fault.
pub(crate) struct Room(pub(crate) Option<PathBuf>);

impl Room {
    fn make(&self) {
        if let Some(file) = &self.0 {
            std::fs::write(file, "").unwrap();
        }
    }
}

/// Performs the script in the folder.
pub(crate) async fn play(folder: &Path, room: &Room) {
    let mut ledger = Ledger::new(1);
    let mut store = open(folder, room).await;
    for step in script() {
        for tried in 1.. {
            let outcome = within(&step, history::perform(&store, &ledger, &step)).await;
            let mut after = ledger.clone();
            let due = after.take(&step);
            if is_due(&outcome, due) {
                ledger = after;
                break;
            }
            assert!(tried < TRIES, "{step:?} fails again and again: {outcome:?}");
            println!("{step:?}: {outcome:?}");
            // An error that is unrelated to the fault is a failure of the test.
            assert!(is_about_files(&outcome), "{step:?} ended as {outcome:?}");
            let read_only = matches!(outcome, Err(StoreError::ReadOnly { .. }));
            // Reads continue.
            assert!(holds(&store, &[&ledger, &after]).await.is_some(), "after {step:?}");
            if read_only || tried > 1 {
                drop(store);
                store = open(folder, room).await;
            }
            room.make();
            let found = holds(&store, &[&ledger, &after]).await;
            if found.unwrap_or_else(|| panic!("after {step:?} and opening again")) == 1 && ledger.tables != after.tables
            {
                ledger = after;
                break;
            }
        }
    }
    if let Err(error) = within("closing", store.close()).await {
        println!("closing: {error}");
    }
    drop(store);
    room.make();
    let store = open(folder, room).await;
    assert!(holds(&store, &[&ledger]).await.is_some(), "at the end");
}

fn is_due(outcome: &StoreResult<()>, due: Due) -> bool {
    match outcome {
        Ok(()) => due != Due::Duplicate,
        Err(StoreError::DuplicateKey { .. }) => due == Due::Duplicate,
        Err(_) => false,
    }
}

fn is_about_files(outcome: &StoreResult<()>) -> bool {
    use StoreError::{Corrupted, DiskFull, Io, ReadOnly};
    matches!(outcome, Err(ReadOnly { .. } | DiskFull { .. } | Io { .. } | Corrupted { .. }))
}

/// Opens the store; the fault may fail that once, or until there is space.
async fn open(folder: &Path, room: &Room) -> Arc<FjallStore> {
    let opened = FjallStore::open(folder, history::options()).or_else(|error| {
        println!("opening: {error}");
        room.make();
        FjallStore::open(folder, history::options())
    });
    opened.unwrap_or_else(|error| panic!("opening again: {error}"))
}

/// Returns the index of the ledger that equals the store's content. The fault may fail one read, too.
async fn holds(store: &FjallStore, ledgers: &[&Ledger]) -> Option<usize> {
    let mut found = within("reading", history::of_store(store, |_| true)).await;
    if let Err(error) = &found {
        println!("reading: {error}");
        found = within("reading", history::of_store(store, |_| true)).await;
    }
    let found = found.unwrap_or_else(|error| panic!("reading again: {error}"));
    let differences: Vec<_> = ledgers.iter().map(|ledger| history::difference(ledger, &found)).collect();
    let same = differences.iter().position(Option::is_none);
    if same.is_none() {
        println!("{differences:?}");
    }
    same
}

async fn within<T>(what: impl std::fmt::Debug, doing: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, doing).await {
        Ok(done) => done,
        Err(_) => panic!("{what:?} hangs"),
    }
}
