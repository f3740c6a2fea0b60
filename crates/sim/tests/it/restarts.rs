//! Histories with restarts at any point: closed, dropped or killed.
//!
//! After each reopening the store must equal the ledger. Runs `BENNU_SIM_RESTARTS` histories with seeds from
//! `BENNU_SIM_SEED`; a failure prints the seed and the steps of its history.

use crate::folder;
use crate::history::{self, Chooser, Due, Ending, Ledger, Step};
use crate::random::{Random, seed, setting};
use std::cell::RefCell;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use store::{Store, StoreError};
use store_fjall::FjallStore;

const FIRST_TABLE: u32 = 100;

thread_local! {
    /// The log of this thread's history, printed on failure.
    static TOLD: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Adds a line to the log that is printed if this thread panics.
fn tell(line: std::fmt::Arguments<'_>) {
    TOLD.with_borrow_mut(|told| writeln!(told, "{line}").unwrap());
}

/// Prints the log of a history that panics. Uses a hook, because a panic within a library may abort the process.
fn tell_when_panicking() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        TOLD.with_borrow(|told| eprintln!("{told}"));
        usual(info);
    }));
}

#[test]
fn acknowledged_rows_and_tables_survive_any_sequence_of_restarts() {
    let (first, count) = (seed("restarts"), setting("BENNU_SIM_RESTARTS", 150));
    tell_when_panicking();
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let runtime =
                    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= count {
                        break;
                    }
                    runtime.block_on(History::run(first.wrapping_mul(1_000_003).wrapping_add(at)));
                }
            });
        }
    });
}

/// The end of a process.
#[derive(Clone, Copy, Debug)]
enum End {
    Closed,
    Dropped,
    Killed,
}

struct History {
    /// Has a folder for each life of the store.
    parent: tempfile::TempDir,
    lives: u32,
    random: Random,
    chooser: Chooser,
    ledger: Ledger,
}

impl History {
    async fn run(seed: u64) {
        let mut random = Random::new(!seed);
        let most = if random.percent(20) { 40 } else { 10 };
        let steps = 2 + random.below(most);
        let mut history = Self {
            parent: folder::in_memory(),
            lives: 0,
            chooser: Chooser::new(seed),
            ledger: Ledger::new(FIRST_TABLE),
            random,
        };
        TOLD.take();
        tell(format_args!("history {seed}"));
        let mut store = history.open().await;
        for _ in 0..steps {
            let step = history.chooser.next(&history.ledger);
            // A kill may interrupt a load.
            if matches!(step, Step::Load { .. }) && history.random.percent(12) {
                let load = history::begin_load(&store, &history.ledger, &step).await;
                tell(format_args!("  {}: killed within {step:?}", history.ledger.step + 1));
                history.ledger.step += 1;
                store = history.restart(store, End::Killed).await;
                drop(load);
                continue;
            }
            history.perform(&store, &step).await;
            if history.random.percent(40) {
                let end = [End::Closed, End::Dropped, End::Killed][history.random.below(3) as usize];
                store = history.restart(store, end).await;
            }
        }
        store = history.restart(store, End::Closed).await;
        store.close().await.unwrap();
    }

    fn folder(&self) -> PathBuf {
        self.parent.path().join(self.lives.to_string())
    }

    async fn perform(&mut self, store: &FjallStore, step: &Step) {
        tell(format_args!("  {}: {step:?}", self.ledger.step + 1));
        let outcome = history::perform(store, &self.ledger, step).await;
        let due = self.ledger.take(step);
        let right = match (&outcome, due) {
            (Ok(()), Due::Done) => true,
            (Ok(()), Due::Nothing) => matches!(step, Step::Load { ending: Ending::Abandon, .. }),
            (Err(StoreError::DuplicateKey { .. }), Due::Duplicate) => true,
            _ => false,
        };
        assert!(right, "the last step must end as {due:?} and ended as {outcome:?}");
    }

    /// Ends one life of the store and begins the next, checking the whole content.
    async fn restart(&mut self, store: Arc<FjallStore>, end: End) -> Arc<FjallStore> {
        tell(format_args!("  {end:?}"));
        match end {
            End::Closed => store.close().await.unwrap(),
            End::Dropped => {}
            End::Killed => self.kill(),
        }
        drop(store);
        self.open().await
    }

    /// Later writes of this process are invisible to the next life.
    fn kill(&mut self) {
        let left = folder::image(&self.folder());
        self.lives += 1;
        folder::store(&left, &self.folder());
    }

    async fn open(&self) -> Arc<FjallStore> {
        let store = FjallStore::open(self.folder(), history::options()).unwrap();
        let found = history::of_store(&store, |_| true).await.unwrap();
        assert_eq!(history::difference(&self.ledger, &found), None);
        store
    }
}
