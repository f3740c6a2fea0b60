//! Large commits, and loads into several tables: power is lost at every event, and each must be atomic in all
//! keyspaces, with everything acknowledged before and after. Covers a batch, a transaction whose writes were spilled to
//! files, and a load with index entries.

use crate::folder;
use crate::history::{self, Contents, Ending, Ledger, Rows, Step, row};
use bennu_sim::power_loss::{Disk, Event, Log, Recording, Unsynced};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::{Durability, FamilyId, Store, TableId};
use store_fjall::FjallStore;
use txn::{LockTable, Transaction, TransactionOptions, WriteMemory};

const CHILD: &str = "LARGE_COMMITS_CHILD";
const SPILLS: &str = "LARGE_COMMITS_SPILLS";
/// Steps before the power losses: they create the tables, two in own keyspaces and two in the shared one.
const BEFORE: usize = 7;

fn steps() -> Vec<Step> {
    let create = |table| Step::Create { table, families: 1 };
    let load_all = |table, beside: &[u32], first, sorted| Step::Load {
        table,
        beside: beside.to_vec(),
        rows: Rows { first, stride: 2, count: 60, sorted },
        replace: false,
        ending: Ending::Finish,
    };
    let load = |table| load_all(table, &[], 0, true);
    let write = |tables: &[u32], numbers: std::ops::Range<u64>, synced| Step::Write {
        puts: tables.iter().flat_map(|table| numbers.clone().map(|number| (*table, number))).collect(),
        deletes: tables.iter().map(|table| (*table, numbers.end)).collect(),
        synced,
    };
    vec![
        create(1),
        create(2),
        create(3),
        create(4),
        load(1),
        load(2),
        write(&[1, 3], 0..3, true),
        // To three keyspaces, one of them shared.
        write(&[1, 2, 3, 4], 10..40, true),
        // Not synced; the next step makes it durable.
        write(&[2, 3], 50..53, false),
        // To one keyspace.
        write(&[3, 4], 5..25, true),
        write(&[2], 0..2, true),
        // Appends to two keyspaces, and to one shared with other tables.
        load_all(1, &[2, 3], 1_000, false),
        // Moves tables to own keyspaces, with their stored rows.
        load_all(3, &[4], 2_000, true),
        write(&[1, 3, 4], 2..4, true),
    ]
}

/// The ledger after each number of steps.
fn ledgers() -> Vec<Ledger> {
    let mut ledgers = vec![Ledger::new(1)];
    for step in steps() {
        let mut next = ledgers[ledgers.len() - 1].clone();
        next.take(&step);
        ledgers.push(next);
    }
    ledgers
}

/// Not a test by itself: run in the recorded process.
#[test]
fn child_that_commits() {
    let Some(root) = std::env::var_os(CHILD).map(PathBuf::from) else { return };
    let mut acks = std::fs::File::create(root.join("acks")).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let store = FjallStore::open(root.join("data"), history::options()).unwrap();
        let spills = std::env::var_os(SPILLS).map(|_| root.join("spill"));
        for (number, (step, ledger)) in steps().iter().zip(ledgers()).enumerate() {
            match &spills {
                Some(folder) if number >= BEFORE && matches!(step, Step::Write { .. }) => {
                    spilled_commit(&store, &ledger, step, folder).await
                }
                _ => history::perform(&store, &ledger, step).await.unwrap(),
            }
            acks.write_all(b".").unwrap();
        }
        // Without destructors.
        std::process::exit(0);
    });
}

/// A memory limit of zero, and a folder.
#[derive(Debug)]
struct Files(PathBuf);

impl WriteMemory for Files {
    fn hold(&self, _: usize) -> bool {
        true
    }

    fn spill_folder(&self) -> Option<&Path> {
        Some(&self.0)
    }
}

/// Performs a step as a transaction that spills its writes.
async fn spilled_commit(store: &Arc<FjallStore>, before: &Ledger, step: &Step, folder: &Path) {
    let Step::Write { puts, deletes, synced } = step else { panic!("{step:?} is no write") };
    std::fs::create_dir_all(folder).unwrap();
    let options = TransactionOptions { max_write_bytes: 256, ..TransactionOptions::default() };
    let mut txn = Transaction::begin(Arc::clone(store) as Arc<dyn Store>, &Arc::new(LockTable::new()), options);
    txn.set_write_memory(Arc::new(Files(folder.to_owned())));
    let writer = before.step + 1;
    // Not in key order, so that the files must be merged.
    for (table, number) in puts.iter().rev() {
        let fragment = row::fragment(*number, writer).into();
        txn.put(TableId(*table), FamilyId(0), row::key(*number).into(), fragment).await.unwrap();
    }
    for (table, number) in deletes {
        txn.delete(TableId(*table), FamilyId(0), row::key(*number).into()).await.unwrap();
    }
    // The files are unlinked, so they are found through `/proc`.
    let open = std::fs::read_dir("/proc/self/fd").unwrap().filter_map(|fd| std::fs::read_link(fd.unwrap().path()).ok());
    assert!(open.filter(|file| file.starts_with(folder)).count() > 0 || puts.len() < 10, "{step:?} stayed in memory");
    let durability = if *synced { Durability::Sync } else { Durability::Buffered };
    txn.commit(durability).await.unwrap();
}

fn record(spills: bool) -> Recording {
    let spills: &[(&str, &str)] = if spills { &[(SPILLS, "")] } else { &[] };
    Recording::of("large_commits::child_that_commits", CHILD, spills).unwrap()
}

/// Loses power at every event after the first steps. Returns the problems found, and the number of openings that
/// completed a commit.
fn cut(log: &Log, root: &Path, mut disk: Disk, torn: bool, enough: usize) -> (Vec<String>, usize) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (ledgers, mut wrong, mut staged) = (ledgers(), Vec::new(), 0);
    for (at, event) in log.events.iter().enumerate() {
        disk.apply(event);
        let acks = disk.read(&root.join("acks")).map_or(0, |acks| acks.len());
        let same = matches!(event, Event::Open { truncate: false, .. } | Event::Close { .. } | Event::Duplicate { .. });
        // Torn states are random, so a sample suffices.
        if acks < BEFORE || same || (torn && at % 3 > 0) {
            continue;
        }
        let left = folder::in_memory();
        let mut flips = at;
        let mut lucky = || {
            flips = flips.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            flips >> 62 == 0
        };
        disk.store(left.path(), if torn { Unsynced::Torn(&mut lucky) } else { Unsynced::Lost }).unwrap();
        let data = left.path().join("data");
        staged += usize::from(std::fs::read_dir(data.join("staged")).is_ok_and(|mut files| files.next().is_some()));
        if let Err(error) = runtime.block_on(verify(&data, &ledgers, acks)) {
            wrong.push(format!("event {at}, {acks} steps acknowledged, torn {torn}: {error}"));
            if wrong.len() >= enough {
                break;
            }
        }
    }
    (wrong, staged)
}

/// Opens the remaining folder twice; both must have the same content.
async fn verify(data: &Path, ledgers: &[Ledger], acks: usize) -> Result<(), String> {
    let found = contents(data).await?;
    // The step without a sync may be lost although it was acknowledged.
    let durable = if acks == BEFORE + 2 { acks - 1 } else { acks };
    let due = &ledgers[durable..=(acks + 1).min(ledgers.len() - 1)];
    let differences: Vec<_> = due.iter().map(|ledger| history::difference(ledger, &found)).collect();
    if differences.iter().all(Option::is_some) {
        return Err(format!("neither the state before nor the one after: {differences:?}"));
    }
    if data.join("staged").exists() {
        return Err("staged rows stay behind".to_owned());
    }
    if contents(data).await? == found { Ok(()) } else { Err("opened again it holds something else".to_owned()) }
}

async fn contents(data: &Path) -> Result<Contents, String> {
    let store = FjallStore::open(data, history::options()).map_err(|error| format!("open: {error}"))?;
    history::of_store(&store, |_| true).await
}

#[test]
fn a_large_commit_is_whole_or_not_there_wherever_the_power_goes() {
    whole_or_not_there(false);
}

#[test]
fn a_spilled_transaction_is_whole_or_not_there_wherever_the_power_goes() {
    whole_or_not_there(true);
}

fn whole_or_not_there(spills: bool) {
    let Recording { root, log, .. } = &record(spills);
    std::thread::scope(|scope| {
        for torn in [false, true] {
            scope.spawn(move || {
                let (wrong, staged) = cut(log, root, Disk::new(root), torn, 5);
                assert!(wrong.is_empty(), "{wrong:#?}");
                assert!(staged > 5, "staged rows were left at {staged} events only");
            });
        }
    });
}

/// Checks that the test can fail.
#[test]
fn a_staged_file_that_is_not_synced_is_noticed() {
    let Recording { root, log, .. } = &record(false);
    for is_folder in [false, true] {
        let unsynced = move |path: &Path| {
            let named = if is_folder { Some(path) } else { path.parent() };
            named.is_some_and(|path| path.ends_with("staged"))
        };
        let (wrong, _) = cut(log, root, Disk::new(root).without_syncs_of(unsynced), false, 1);
        assert!(!wrong.is_empty(), "folder {is_folder}");
    }
}
