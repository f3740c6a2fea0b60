//! Tracks the memory of all memtables.
//!
//! fjall's own counter is reduced only by flushes of its workers: it permanently includes memtables of deleted
//! keyspaces and those that an ingestion flushed.

pub(crate) mod budget;
pub(crate) mod flush;

use crate::seam::Mutex;
use fjall::{AbstractTree, Keyspace};
use lsm_tree::Memtable;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// Memtables that were seen while they were active. A memtable that exists only between two measurements is negligibly
/// small.
#[derive(Default)]
pub(crate) struct Memtables {
    /// By keyspace id and memtable id. The mutex is held briefly.
    seen: Mutex<HashMap<(u64, u64), Weak<Memtable>>>,
    unflushed: AtomicU64,
    retained: AtomicU64,
    /// Bytes written by commits since the last measurement.
    brought: AtomicU64,
}

impl Memtables {
    /// Records the active memtable of a keyspace, which is about to be sealed.
    pub(crate) fn note(&self, keyspace: &Keyspace) {
        let active = keyspace.tree.active_memtable();
        self.seen.lock().entry((keyspace.id(), active.id())).or_insert_with(|| Arc::downgrade(&active));
    }

    /// Returns the memtables of a keyspace with these ids that are recorded and still in memory.
    pub(crate) fn numbered(&self, keyspace: u64, numbers: Range<u64>) -> Vec<Arc<Memtable>> {
        let seen = self.seen.lock();
        numbers.filter_map(|number| seen.get(&(keyspace, number))?.upgrade()).collect()
    }

    /// Measures all `keyspaces`. Returns the number of unflushed bytes.
    pub(crate) fn look(&self, keyspaces: &[Keyspace]) -> u64 {
        // Reset before the measurement, so that concurrent commits are counted twice rather than not at all.
        self.brought.store(0, Ordering::Relaxed);
        let mut seen = self.seen.lock();
        // The id of the first unflushed memtable per keyspace: a flush takes all sealed ones at once.
        let mut first = HashMap::with_capacity(keyspaces.len());
        for keyspace in keyspaces {
            let sealed = keyspace.sealed_memtable_count() as u64;
            let active = keyspace.tree.active_memtable();
            first.insert(keyspace.id(), active.id().saturating_sub(sealed));
            seen.entry((keyspace.id(), active.id())).or_insert_with(|| Arc::downgrade(&active));
        }
        let (mut unflushed, mut retained) = (0, 0);
        seen.retain(|(keyspace, number), memtable| {
            let Some(memtable) = memtable.upgrade() else { return false };
            // Memtables of dropped tables are held by readers only.
            let is_unflushed = first.get(keyspace).is_some_and(|first| number >= first);
            *(if is_unflushed { &mut unflushed } else { &mut retained }) += memtable.size();
            true
        });
        drop(seen);
        self.unflushed.store(unflushed, Ordering::Relaxed);
        self.retained.store(retained, Ordering::Relaxed);
        unflushed
    }

    /// Reserves `bytes` for a commit, unless more than `most` bytes are unflushed already.
    pub(crate) fn take(&self, bytes: u64, most: u64) -> bool {
        let before = self.brought.fetch_add(bytes, Ordering::Relaxed);
        let is_room = self.unflushed().saturating_add(before) <= most;
        if !is_room {
            // Saturating, because a measurement may have reset the counter in between.
            let _ =
                self.brought.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |all| Some(all.saturating_sub(bytes)));
        }
        is_room
    }

    /// Unflushed bytes at the last measurement.
    pub(crate) fn unflushed(&self) -> u64 {
        self.unflushed.load(Ordering::Relaxed)
    }

    /// Bytes of flushed memtables that are still held, at the last measurement.
    pub(crate) fn retained(&self) -> u64 {
        self.retained.load(Ordering::Relaxed)
    }
}
