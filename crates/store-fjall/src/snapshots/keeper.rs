//! Limits the age and memory of snapshots. Called by the housekeeper at every tick.

use super::frozen::Frozen;
use super::handed::{Handed, Reading};
use crate::commit::publish::State;
use crate::seam::{Instant, Mutex};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;
use store::Snapshot;

/// Snapshots of this age are frozen. Most are dropped earlier.
const FREEZE_AFTER: Duration = Duration::from_millis(250);

/// The snapshots that the layers above hold.
#[derive(Default)]
pub(crate) struct Keeper {
    /// Held briefly.
    handed: Mutex<Vec<Weak<Handed>>>,
    open: AtomicU64,
    oldest_millis: AtomicU64,
    retained_bytes: AtomicU64,
    ended: AtomicU64,
}

/// The limits of snapshots.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) age: Duration,
    pub(crate) bytes: u64,
}

impl Keeper {
    /// Hands out a snapshot of `state`.
    pub(crate) fn hand_out(&self, state: Arc<State>) -> Snapshot {
        let commit = state.commit;
        let handed = Arc::new(Handed::new(state));
        self.handed.lock().push(Arc::downgrade(&handed));
        Snapshot::new(commit, handed)
    }

    /// Freezes snapshots older than [`FREEZE_AFTER`], and ends those that exceed a limit.
    pub(crate) fn tick(&self, newest: &Arc<State>, limits: Limits) {
        let mut open = self.open_ones();
        let now = Instant::now();
        self.open.store(open.len() as u64, Ordering::Relaxed);
        let oldest = open.first().map_or(Duration::ZERO, |oldest| now.duration_since(oldest.taken));
        self.oldest_millis.store(u64::try_from(oldest.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
        open.retain(|handed| now.duration_since(handed.taken) >= FREEZE_AFTER);
        open.retain(|handed| {
            let stays = now.duration_since(handed.taken) < limits.age;
            if !stays {
                self.end(handed, "age");
            }
            stays
        });
        freeze(&open, newest);
        self.bound_memory(&open, limits.bytes);
    }

    /// The open snapshots, from the oldest to the newest.
    fn open_ones(&self) -> Vec<Arc<Handed>> {
        let mut handed = self.handed.lock();
        handed.retain(|handed| handed.strong_count() > 0);
        let mut open: Vec<_> = handed.iter().filter_map(Weak::upgrade).collect();
        drop(handed);
        open.retain(|handed| handed.reading().is_some());
        open.sort_by_key(|handed| handed.taken);
        open
    }

    /// Ends the oldest snapshots that hold flushed memtables until these take at most `limit` bytes.
    fn bound_memory(&self, open: &[Arc<Handed>], limit: u64) {
        let holders: Vec<_> = open.iter().filter_map(|handed| Some((handed, retained(handed)?))).collect();
        let mut from = 0;
        let mut held = bytes_of(&holders);
        while held > limit
            && let Some((oldest, _)) = holders.get(from)
        {
            self.end(oldest, "memory");
            from += 1;
            held = bytes_of(holders.get(from..).unwrap_or_default());
        }
        self.retained_bytes.store(held, Ordering::Relaxed);
    }

    fn end(&self, handed: &Handed, limit: &str) {
        tracing::warn!(commit = handed.commit.0, age = ?handed.taken.elapsed(), limit, "a snapshot was ended");
        self.ended.fetch_add(1, Ordering::Relaxed);
        handed.end();
    }

    /// Metrics.
    pub(crate) fn figures(&self) -> [(&'static str, u64); 4] {
        let figure = |value: &AtomicU64| value.load(Ordering::Relaxed);
        [
            ("snapshots", figure(&self.open)),
            ("snapshot_oldest_milliseconds", figure(&self.oldest_millis)),
            ("snapshot_memtable_bytes", figure(&self.retained_bytes)),
            ("snapshots_ended_total", figure(&self.ended)),
        ]
    }
}

/// Releases the fjall snapshots that `open` hold, except the newest.
fn freeze(open: &[Arc<Handed>], newest: &Arc<State>) {
    // Snapshots of the same state share its images.
    let mut frozen: HashMap<*const State, Arc<Frozen>> = HashMap::new();
    for handed in open {
        match handed.reading() {
            Some(Reading::Live(state)) if Arc::ptr_eq(&state, newest) => {}
            // No commit lies in between, so the newest state has the same rows, but flushed rows are read from disk.
            Some(_) if handed.commit == newest.commit => handed.replace(Reading::Live(newest.clone())),
            Some(Reading::Live(state)) => {
                let frozen = frozen.entry(Arc::as_ptr(&state)).or_insert_with(|| Arc::new(Frozen::take(&state)));
                handed.replace(Reading::Frozen(frozen.clone()));
            }
            Some(Reading::Frozen(_)) | None => {}
        }
    }
}

/// Bytes of flushed memtables by keyspace and memtable id.
type Retained = HashMap<(u64, u64), u64>;

fn retained(handed: &Handed) -> Option<Retained> {
    let Some(Reading::Frozen(frozen)) = handed.reading() else { return None };
    let retained: Retained = frozen.retained().collect();
    (!retained.is_empty()).then_some(retained)
}

fn bytes_of(holders: &[(&Arc<Handed>, Retained)]) -> u64 {
    let distinct: Retained =
        holders.iter().flat_map(|(_, retained)| retained).map(|(id, bytes)| (*id, *bytes)).collect();
    distinct.values().sum()
}
