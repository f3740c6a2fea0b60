//! Which memtables are in memory: the sum of what is really held.
//!
//! fjall keeps a counter of its own, from which only a flush by its workers takes anything away: what a deleted
//! keyspace had in its memtable, or an ingestion flushed, stays in it for good.

pub(crate) mod budget;
pub(crate) mod flush;

use crate::seam::Mutex;
use fjall::{AbstractTree, Keyspace};
use lsm_tree::Memtable;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// Memtables that were seen when they were active. Each is for a while: one that comes and goes between two
/// looks holds next to nothing.
#[derive(Default)]
pub(crate) struct Memtables {
    /// By keyspace and number. A short mutex.
    seen: Mutex<HashMap<(u64, u64), Weak<Memtable>>>,
    unflushed: AtomicU64,
    retained: AtomicU64,
    /// Bytes that commits have brought since the last look.
    brought: AtomicU64,
}

impl Memtables {
    /// Notes the memtable of a keyspace, which is about to be sealed.
    pub(crate) fn note(&self, keyspace: &Keyspace) {
        let active = keyspace.tree.active_memtable();
        self.seen.lock().entry((keyspace.id(), active.id())).or_insert_with(|| Arc::downgrade(&active));
    }

    /// The memtables of these numbers of a keyspace, as far as they are in memory and were noted or seen while they were active.
    pub(crate) fn numbered(&self, keyspace: u64, numbers: Range<u64>) -> Vec<Arc<Memtable>> {
        let seen = self.seen.lock();
        numbers.filter_map(|number| seen.get(&(keyspace, number))?.upgrade()).collect()
    }

    /// Looks at all `keyspaces`; returns the bytes that are not on disk yet.
    pub(crate) fn look(&self, keyspaces: &[Keyspace]) -> u64 {
        // Before the look: what comes during it may be counted twice, and is counted.
        self.brought.store(0, Ordering::Relaxed);
        let mut seen = self.seen.lock();
        // The number of the first memtable that is not flushed: flushes take all sealed ones at once.
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
            // Those of dropped tables are held by readers only.
            let is_unflushed = first.get(keyspace).is_some_and(|first| number >= first);
            *(if is_unflushed { &mut unflushed } else { &mut retained }) += memtable.size();
            true
        });
        drop(seen);
        self.unflushed.store(unflushed, Ordering::Relaxed);
        self.retained.store(retained, Ordering::Relaxed);
        unflushed
    }

    /// Takes room for `bytes` that a commit brings, unless more than `most` are there already.
    pub(crate) fn take(&self, bytes: u64, most: u64) -> bool {
        let before = self.brought.fetch_add(bytes, Ordering::Relaxed);
        let is_room = self.unflushed().saturating_add(before) <= most;
        if !is_room {
            // At least what was added is there, unless somebody has just looked.
            let _ =
                self.brought.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |all| Some(all.saturating_sub(bytes)));
        }
        is_room
    }

    /// Bytes that are not on disk yet, as last seen.
    pub(crate) fn unflushed(&self) -> u64 {
        self.unflushed.load(Ordering::Relaxed)
    }

    /// Bytes that are on disk, too, and still held by somebody, as last seen.
    pub(crate) fn retained(&self) -> u64 {
        self.retained.load(Ordering::Relaxed)
    }
}
