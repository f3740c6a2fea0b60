//! A table in an own keyspace is dropped by a commit without a sync. The keyspace may be deleted only when that commit
//! is durable; otherwise a power loss in between leaves the table without its rows.
//!
//! fjall deletes files without a sync, so after a power loss any subset of the deletions may have happened.

use crate::folder;
use crate::history::{self, Ending, Ledger, Rows, Step};
use crate::random::Random;
use bennu_sim::power_loss::{Disk, Event, Recording, Unsynced};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;
use store::{Durability, Store, TableChange, TableId, WriteBatch};
use store_fjall::{FjallStore, Options};

const CHILD: &str = "DELETED_KEYSPACES_CHILD";
const TABLE: u32 = 1;
const ROWS: usize = 60;
/// Number of states per event: one without unsynced changes, the others torn at random.
const TORN: u64 = 5;

/// Only explicit syncs and flushes.
fn options() -> Options {
    let never = Duration::from_secs(24 * 3600);
    Options { buffered_sync_interval: never, idle_flush: never, ..history::options() }
}

/// Not a test by itself: run in the recorded process.
#[test]
fn child_that_drops_a_table() {
    let Some(root) = std::env::var_os(CHILD).map(PathBuf::from) else { return };
    let say = |word: &str| std::fs::write(root.join(word), "").unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let store = FjallStore::open(root.join("data"), options()).unwrap();
        let mut ledger = Ledger::new(TABLE);
        let rows = Rows { first: 0, stride: 1, count: ROWS as u64, sorted: true };
        let load = Step::Load { table: TABLE, beside: vec![], rows, replace: false, ending: Ending::Finish };
        for step in [Step::Create { table: TABLE, families: 1 }, load] {
            history::perform(&store, &ledger, &step).await.unwrap();
            ledger.take(&step);
        }
        say("loaded");
        tokio::time::sleep(Duration::from_millis(100)).await;
        say("dropping");
        let batch = WriteBatch { tables: vec![TableChange::Drop(TableId(TABLE))], ..WriteBatch::default() };
        store.apply(batch, Durability::Buffered).await.unwrap();
        // The housekeeper runs every 20 ms.
        tokio::time::sleep(Duration::from_millis(600)).await;
        // Without destructors, which would sync.
        std::process::exit(0);
    });
}

fn record() -> Recording {
    Recording::of("deleted_keyspaces::child_that_drops_a_table", CHILD, &[]).unwrap()
}

/// Loses power at every event after the load; with `unsynced` journal syncs have no effect from the drop on. The error
/// describes the first problem.
fn lose_power(Recording { root, log, .. }: &Recording, unsynced: bool) -> Result<(), String> {
    let dropping = Rc::new(Cell::new(false));
    let left_out = dropping.clone();
    let is_journal = |path: &Path| path.extension().is_some_and(|extension| extension == "jnl");
    let mut disk = Disk::new(root).without_syncs_of(move |path| unsynced && left_out.get() && is_journal(path));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (mut random, mut deleted) = (Random::new(1), false);
    for (at, event) in log.events.iter().enumerate() {
        disk.apply(event);
        dropping.set(disk.read(&root.join("dropping")).is_some());
        if disk.read(&root.join("loaded")).is_none() {
            continue;
        }
        deleted |= matches!(event, Event::Unlink { path } if path.ends_with("current"));
        for torn in 0..TORN {
            let left = folder::in_memory();
            let mut lucky = || random.percent(50);
            disk.store(left.path(), if torn > 0 { Unsynced::Torn(&mut lucky) } else { Unsynced::Lost }).unwrap();
            let found = runtime.block_on(rows(left.path())).map_err(|error| format!("event {at}: {error}"))?;
            if found != Some(ROWS) && !(found.is_none() && dropping.get()) {
                return Err(format!("event {at}: {found:?} rows, dropping: {}", dropping.get()));
            }
        }
    }
    assert!(deleted, "the keyspace was not deleted");
    Ok(())
}

/// The number of rows in the table; `None` if the table does not exist.
async fn rows(left: &Path) -> Result<Option<usize>, String> {
    let store = FjallStore::open(left.join("data"), options()).map_err(|error| format!("opening: {error}"))?;
    let found = history::of_store(&store, |_| true).await?;
    Ok(found.get(&TABLE).map(|table| table.rows.len()))
}

#[test]
fn a_keyspace_goes_when_the_drop_of_its_table_is_durable() {
    lose_power(&record(), false).unwrap();
}

/// Checks that the test can fail.
#[test]
fn leaving_out_the_sync_before_keyspaces_are_deleted_is_noticed() {
    let noticed = lose_power(&record(), true).unwrap_err();
    println!("without the sync before keyspaces are deleted: {noticed}");
}
