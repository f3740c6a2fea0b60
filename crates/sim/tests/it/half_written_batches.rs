//! The disk is full within a batch after 64 MB of journal, and then has space again: fjall begins a new journal after
//! the partial batch. The folder must open with everything acknowledged and nothing of the partial batch.
//!
//! `BENNU_SIM_ROTATION_FAULTS` positions in the batch.

use crate::folder;
use crate::history;
use crate::journal_rotation::{BATCH, TABLE, is_journal, long_row, options, put, rows};
use crate::random::setting;
use bennu_sim::power_loss::{Call, Fault, Shim};
use rustix::io::Errno;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use store::{Durability, Store, TableId, WriteBatch};
use store_fjall::FjallStore;

const CHILD: &str = "HALF_WRITTEN_CHILD";
const BATCHES: &str = "HALF_WRITTEN_BATCHES";
const ROOM: &str = "HALF_WRITTEN_ROOM";
/// Number of batches that fill a journal of 64 MB.
const FULL: u64 = 16;

/// Not a test by itself: run in the process with the full disk.
#[test]
fn child_whose_disk_is_full_behind_a_full_journal() {
    let Some(root) = std::env::var_os(CHILD).map(PathBuf::from) else { return };
    let batches: u64 = std::env::var(BATCHES).unwrap().parse().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let store = FjallStore::open(root.join("data"), options()).unwrap();
        history::create_tables(&store, &[TABLE]).await.unwrap();
        let mut acknowledged = 0;
        for number in 0..batches {
            let mutations = (number * BATCH..(number + 1) * BATCH).map(|row| put(row, long_row(row))).collect();
            let batch = WriteBatch { mutations, ..WriteBatch::default() };
            let Ok(commit) = store.apply(batch, Durability::Sync).await else { break };
            if store.sync(commit).await.is_err() {
                break;
            }
            acknowledged += 1;
        }
        if let Some(room) = std::env::var_os(ROOM).map(PathBuf::from) {
            std::fs::write(&room, "").unwrap();
            std::fs::write(room.with_extension("acknowledged"), acknowledged.to_string()).unwrap();
            // Flushes earlier rows, which ends the journal. The store reports that it is read-only.
            let _ = store.flush(TableId(TABLE), false).await;
            tokio::time::sleep(Duration::from_millis(700)).await;
        }
        // Without destructors.
        std::process::exit(0);
    });
}

/// Runs the child. Returns the number of its write calls.
fn run(shim: &Shim, parent: &Path, batches: u64, fault: Option<&Fault>) -> u64 {
    let (root, counts) = (parent.join("root"), parent.join("counts"));
    std::fs::create_dir(&root).unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "half_written_batches::child_whose_disk_is_full_behind_a_full_journal"]);
    command.env(CHILD, &root).env(BATCHES, batches.to_string());
    command.envs(fault.and_then(|fault| fault.until.as_ref()).map(|room| (ROOM, room)));
    shim.inject(&mut command, &root, fault, &counts);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let counts = std::fs::read_to_string(counts).unwrap();
    let of = |line: &str| line.split_once(' ').filter(|(kind, _)| *kind == "write").map(|(_, count)| count.parse());
    counts.lines().find_map(of).unwrap().unwrap()
}

#[test]
fn half_of_a_batch_in_a_sealed_journal_costs_nothing_that_was_acknowledged() {
    let tools = folder::in_memory();
    let shim = Shim::compile(tools.path()).expect("a C compiler is needed");
    let writes = |batches| run(&shim, folder::in_memory().path(), batches, None);
    let (before, after) = (writes(FULL), writes(FULL + 1));
    let count = setting("BENNU_SIM_ROTATION_FAULTS", 2);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let mut sealed = 0;
    for part in 1..=count {
        let parent = folder::in_memory();
        let number = before + (after - before) * part / (count + 1);
        let (call, errno, room) = (Call::Write, Errno::NOSPC.raw_os_error(), parent.path().join("room"));
        run(&shim, parent.path(), FULL + 2, Some(&Fault { call, number, errno, until: Some(room.clone()) }));
        let acknowledged: u64 = std::fs::read_to_string(room.with_extension("acknowledged")).unwrap().parse().unwrap();
        let root = parent.path().join("root");
        let database = std::fs::read_dir(root.join("data/db")).unwrap();
        let journals = database.filter(|file| is_journal(&file.as_ref().unwrap().path())).count();
        sealed += u64::from(journals > 1);
        let found = runtime.block_on(rows(&root));
        let (long, _) = found.unwrap_or_else(|error| panic!("write {number}, {journals} journals: {error}"));
        println!("write {number} of {before} to {after}: {acknowledged} batches, {journals} journals, {long} rows");
        assert!(long.is_multiple_of(BATCH) && long >= acknowledged * BATCH && long <= (acknowledged + 1) * BATCH);
    }
    assert!(sealed > 0, "no journal was sealed behind half of a batch");
}
