//! Compaction on threads of the store.
//!
//! fjall 3.1.13 compacts on its workers. While one compacts, the first worker takes each further compaction request out
//! of the queue and puts it back without a pause, which occupies a core. So keyspaces are created with limits at which
//! fjall's workers only move tables that overlap with none, and the threads of this module compact with the actual
//! limits. A keyspace that was created with other options is compacted by either.

use crate::error::storage;
use crate::housekeeping::{Stop, TICK, spawn};
use crate::inner::Inner;
use crate::memtables::flush::all_keyspaces;
use crate::seam::{Mutex, thread};
use fjall::compaction::Leveled;
use fjall::{AbstractTree, Keyspace};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use store::StoreResult;

/// The largest threshold that fjall accepts.
const MOST_TABLES_OF_LEVEL_0: u8 = u8::MAX;
/// Growth factor between levels.
const MOST_GROWTH: f32 = 1e6;

/// The compaction strategy for fjall's workers, which compact next to nothing. Tables that they write have the usual
/// size.
pub(crate) fn of_fjall() -> Arc<Leveled> {
    let limits = Leveled::default().with_l0_threshold(MOST_TABLES_OF_LEVEL_0);
    Arc::new(limits.with_level_ratio_policy(vec![MOST_GROWTH]))
}

/// Statistics of compactions, and the keyspaces that need none.
#[derive(Default)]
pub(crate) struct Compactions {
    /// The tree version of each keyspace for which there was nothing to compact. The mutex is held briefly.
    settled: Mutex<HashMap<u64, u64>>,
    active: AtomicU64,
    done: AtomicU64,
}

impl Compactions {
    /// Number of running compactions.
    pub(crate) fn active(&self) -> u64 {
        self.active.load(Ordering::Relaxed)
    }

    /// Number of finished compactions.
    pub(crate) fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    fn is_settled(&self, keyspace: &Keyspace) -> bool {
        self.settled.lock().get(&keyspace.id()) == Some(&version(keyspace))
    }

    fn forget_all_but(&self, keyspaces: &[Keyspace]) {
        self.settled.lock().retain(|id, _| keyspaces.iter().any(|keyspace| keyspace.id() == *id));
    }
}

/// Starts the threads.
/// Starts the compaction threads.
/// # Errors
/// I/O failures: the operating system refuses more threads.
pub(crate) fn start(inner: &Arc<Inner>, stop: &Arc<Stop>) -> StoreResult<Vec<thread::JoinHandle>> {
    let threads = inner.options.compaction_threads.max(1);
    let compactor = |_| {
        let (inner, stop) = (inner.clone(), stop.clone());
        spawn("bennu-compact", move || run(&inner, &stop))
    };
    (0..threads).map(compactor).collect()
}

/// Compacts until `stop`, even if the store is closed or read-only, because a commit may wait for room in level 0. Ends
/// at a failure, because then only recovery can tell which files are valid.
fn run(inner: &Inner, stop: &Stop) {
    let mut worked = false;
    while !(if worked { stop.is_set() } else { stop.wait(TICK) }) {
        match pass(inner, stop) {
            Ok(did) => worked = did,
            Err(error) => {
                inner.pipeline.read_only.set(&error);
                return;
            }
        }
    }
}

/// Compacts each keyspace once, so that none waits for all compactions of another. Returns whether any was compacted.
fn pass(inner: &Inner, stop: &Stop) -> StoreResult<bool> {
    let keyspaces = all_keyspaces(inner);
    inner.compactions.forget_all_but(&keyspaces);
    let unsettled = keyspaces.into_iter().filter(|keyspace| !inner.compactions.is_settled(keyspace));
    let unsettled: Vec<u64> = unsettled.map(|keyspace| keyspace.id()).collect();
    let mut worked = false;
    for id in unsettled {
        // Keyspaces of dropped tables are not held, because that would keep their files.
        let Some(keyspace) = all_keyspaces(inner).into_iter().find(|keyspace| keyspace.id() == id) else { continue };
        if stop.is_set() {
            break;
        }
        worked |= compact(inner, &keyspace)?;
    }
    Ok(worked)
}

/// Compacts once. Returns whether there was something to compact.
fn compact(inner: &Inner, keyspace: &Keyspace) -> StoreResult<bool> {
    let compactions = &inner.compactions;
    let before = version(keyspace);
    compactions.active.fetch_add(1, Ordering::Relaxed);
    let oldest = inner.pipeline.db.supervisor.snapshot_tracker.get_seqno_safe_to_gc();
    let outcome = keyspace.tree.compact(Arc::new(Leveled::default()), oldest);
    compactions.active.fetch_sub(1, Ordering::Relaxed);
    outcome.map_err(|error| storage("compacting")(&error))?;
    let did = version(keyspace) != before;
    if did {
        compactions.done.fetch_add(1, Ordering::Relaxed);
    } else {
        compactions.settled.lock().insert(keyspace.id(), before);
    }
    Ok(did)
}

/// The tree version of a keyspace.
fn version(keyspace: &Keyspace) -> u64 {
    keyspace.tree.current_version().id()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use fjall::{Database, KeyspaceCreateOptions};
    use std::thread::sleep;
    use std::time::Duration;

    /// More runs than compaction usually leaves in level 0, and fewer than stall writes.
    const FLUSHES: usize = 16;

    #[test]
    fn fjall_leaves_flushed_tables_alone_also_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let options = || KeyspaceCreateOptions::default().compaction_strategy(of_fjall());
        for flushes in [FLUSHES / 2, FLUSHES] {
            let db = Database::builder(folder.path()).worker_threads(2).open().unwrap();
            let rows = db.keyspace("rows", options).unwrap();
            while rows.tree.l0_run_count() < flushes {
                rows.insert("row", "value").unwrap();
                rows.rotate_memtable_and_wait().unwrap();
            }
            // Each flush requested a compaction: wait until fjall has handled the requests.
            sleep(Duration::from_millis(200));
            assert_eq!(rows.tree.l0_run_count(), flushes);
        }
    }
}
