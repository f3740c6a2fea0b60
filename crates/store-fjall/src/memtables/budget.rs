//! A budget of all memtables together, in bytes and entries, which fjall lacks.
//!
//! fjall rotates a memtable only by its own size, so many evenly loaded keyspaces use unbounded memory, and their
//! journals can never be deleted. Its rotation is disabled (`flush::rotate` says why). Instead, each tick flushes
//!
//! - memtables that are large;
//! - the largest memtable, if all together have too many bytes;
//! - the one with the most entries, if all together have too many (a restart replays at about 4 us per entry);
//! - every memtable after a journal was sealed, so that the journal can be deleted;
//! - memtables of idle keyspaces.
//!
//! Commits pause briefly when flushes fall behind, before fjall stalls all of them. That does not suffice on a slow
//! disk, where the sync before a flush may take as long as filling several budgets. So a commit waits while memtables
//! have twice the budget.

use crate::inner::Inner;
use crate::journal::held_journals::HeldJournals;
use crate::memtables::flush::{all_keyspaces, refresh, rotate};
use crate::options::Options;
use crate::seam::{Instant, engine_threads, task};
use fjall::{AbstractTree, Keyspace};
use std::collections::HashMap;
use std::time::Duration;
use store::StoreResult;

/// A memtable of this size is flushed to a table of its own.
const LARGE: u64 = 64 << 20;
/// Smaller memtables are not flushed to reclaim bytes.
const WORTH_FLUSHING: u64 = 1 << 20;
/// Poll interval of a commit that waits for memtable space.
const WAIT_FOR_ROOM: Duration = Duration::from_millis(2);
/// Interval at which states are refreshed in the absence of commits, so that flushed memtables are freed.
const REFRESH_EVERY: Duration = Duration::from_millis(500);

/// State kept between ticks.
#[derive(Default)]
pub(crate) struct Budget {
    /// By keyspace id: number of entries, and the time of its last change.
    idle: HashMap<u64, (usize, Instant)>,
    journals: usize,
    journals_held: HeldJournals,
    refreshed: Option<Instant>,
}

struct Load {
    keyspace: Keyspace,
    bytes: u64,
    entries: usize,
}

impl Budget {
    /// Checks all keyspaces.
    ///
    /// # Errors
    /// Errors of a rotation.
    pub(crate) fn tick(&mut self, inner: &Inner) -> StoreResult<()> {
        let keyspaces = all_keyspaces(inner);
        let unflushed = inner.memtables.look(&keyspaces);
        let loads: Vec<Load> = keyspaces.iter().cloned().map(Load::of).collect();
        inner.admission.set_pause(pause(&loads));
        for load in self.choose(inner, &loads, unflushed) {
            rotate(inner, &load.keyspace)?;
        }
        self.journals_held.tick(inner, &keyspaces)?;
        self.release_replaced(inner, &keyspaces)
    }

    fn choose<'a>(&mut self, inner: &Inner, loads: &'a [Load], unflushed: u64) -> Vec<&'a Load> {
        let db = &inner.pipeline.db;
        let journals = db.journal_count();
        let sealed_one = journals > std::mem::replace(&mut self.journals, journals) && journals > 1;
        if sealed_one {
            return loads.iter().filter(|load| load.entries > 0).collect();
        }
        let entries: usize = loads.iter().map(|load| load.entries).sum();
        let behind = engine_threads::outstanding_flushes(db) > 0;
        let mut rotate = self.idle_ones(inner.options.idle_flush, loads);
        rotate.extend(loads.iter().filter(|load| load.bytes >= LARGE));
        if entries as u64 > inner.options.memtable_entries {
            rotate.extend(loads.iter().max_by_key(|load| load.entries));
        } else if unflushed > inner.options.memtable_bytes && !behind {
            let largest = loads.iter().max_by_key(|load| load.bytes);
            let is_worth_it = |load: &&Load| load.bytes >= WORTH_FLUSHING || unflushed > most_unflushed(&inner.options);
            rotate.extend(largest.filter(is_worth_it));
        }
        rotate
    }

    fn idle_ones<'a>(&mut self, after: Duration, loads: &'a [Load]) -> Vec<&'a Load> {
        let now = Instant::now();
        self.idle.retain(|id, _| loads.iter().any(|load| load.keyspace.id() == *id));
        let mut idle = Vec::new();
        for load in loads {
            let seen = self.idle.entry(load.keyspace.id()).or_insert((load.entries, now));
            if seen.0 != load.entries {
                *seen = (load.entries, now);
            } else if load.entries > 0 && now.duration_since(seen.1) >= after {
                idle.push(load);
            }
        }
        idle
    }

    /// Frees memtables and files that states hold although flushes and compactions replaced them, and old tree
    /// versions. Commits and flushes replace both regularly; without them it is done here.
    fn release_replaced(&mut self, inner: &Inner, keyspaces: &[Keyspace]) -> StoreResult<()> {
        if self.refreshed.is_some_and(|at| at.elapsed() < REFRESH_EVERY) {
            return Ok(());
        }
        self.refreshed = Some(Instant::now());
        let pipeline = &inner.pipeline;
        if pipeline.publisher.newest().snapshot.seqno() != pipeline.db.visible_seqno() {
            refresh(inner);
        }
        pipeline.nonces.drop_unread_versions(&pipeline.db, keyspaces)
    }
}

/// Memtable bytes above which commits wait.
fn most_unflushed(options: &Options) -> u64 {
    options.memtable_bytes.saturating_mul(2)
}

/// Waits until memtables have space for a commit of `bytes` bytes.
///
/// # Errors
/// [`store::StoreError::Closed`], [`store::StoreError::ReadOnly`]: then no flush will free space.
pub(crate) async fn room(inner: &Inner, bytes: usize) -> StoreResult<()> {
    let most = most_unflushed(&inner.options);
    let mut waits = false;
    while !inner.memtables.take(bytes as u64, most) {
        inner.check_open()?;
        inner.pipeline.read_only.check()?;
        if !std::mem::replace(&mut waits, true) {
            inner.admission.count_pause();
        }
        task::sleep(WAIT_FOR_ROOM).await;
    }
    Ok(())
}

impl Load {
    fn of(keyspace: Keyspace) -> Self {
        let memtable = keyspace.tree.active_memtable();
        Self { bytes: memtable.size(), entries: memtable.len(), keyspace }
    }
}

/// Returns the pause of commits. fjall makes writers sleep 100 ms at a time at 4 sealed memtables and spin at 20 runs
/// in level 0, so commits are slowed down before.
fn pause(loads: &[Load]) -> Duration {
    let sealed = loads.iter().map(|load| load.keyspace.sealed_memtable_count()).max().unwrap_or(0);
    let runs = loads.iter().map(|load| load.keyspace.tree.l0_run_count()).max().unwrap_or(0);
    match (sealed, runs) {
        (3.., _) | (_, 18..) => Duration::from_millis(10),
        (2, _) | (_, 14..) => Duration::from_millis(1),
        _ => Duration::ZERO,
    }
}
