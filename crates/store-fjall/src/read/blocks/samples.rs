//! Estimates the number of memtable entries in a range.
//!
//! A memtable is a skip list without positions. Up to [`COUNTED`] entries are counted. For more, keys at equal
//! distances are sampled, and the sample estimates the rest. A memtable is sampled again when it has grown by a
//! quarter.

use super::overlay::MemtableEntries;
use crate::read::range::StoredRange;
use lsm_tree::Memtable;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use store::TableSize;

/// Maximum number of entries that are counted.
const COUNTED: u64 = 256;

/// Approximate number of sampled keys: the error of an estimate is about `1 / KEYS` of all entries.
const KEYS: usize = 512;

/// Samples of memtables.
#[derive(Default)]
pub(crate) struct Samples {
    /// By keyspace id and memtable id. Held for one lookup or change.
    kept: Mutex<HashMap<(u64, u64), Arc<Sample>>>,
}

struct Sample {
    memtable: Weak<Memtable>,
    /// Number of entries when the sample was taken.
    entries: usize,
    /// Sampled keys in order.
    keys: Vec<Vec<u8>>,
}

impl Samples {
    /// Estimates the size of `range` in a memtable of that keyspace. Exact for few entries.
    pub(crate) fn share(&self, keyspace: u64, memtable: &Arc<Memtable>, range: &StoredRange) -> TableSize {
        let all = memtable.len();
        if all == 0 {
            return TableSize::default();
        }
        let counted = MemtableEntries::new(Arc::clone(memtable), range, u64::MAX).count_up_to(COUNTED);
        let rows = match counted < COUNTED {
            true => counted,
            false => counted.max(self.of(keyspace, memtable).rows_in(range, all as u64)),
        };
        TableSize { rows, bytes: memtable.size().saturating_mul(rows) / all as u64 }
    }

    fn of(&self, keyspace: u64, memtable: &Arc<Memtable>) -> Arc<Sample> {
        let place = (keyspace, memtable.id());
        let kept = self.kept.lock().get(&place).cloned();
        if let Some(kept) = kept.filter(|kept| memtable.len() <= kept.entries + kept.entries / 4) {
            return kept;
        }
        let sample = Arc::new(Sample::of(memtable));
        self.kept.lock().insert(place, Arc::clone(&sample));
        sample
    }

    /// Removes samples of dropped memtables.
    pub(crate) fn forget_gone(&self) {
        self.kept.lock().retain(|_, sample| sample.memtable.strong_count() > 0);
    }
}

impl Sample {
    fn of(memtable: &Arc<Memtable>) -> Self {
        let entries = memtable.len();
        let each = memtable.items.iter().step_by((entries / KEYS).max(1));
        let keys = each.map(|entry| entry.key().user_key.to_vec()).collect();
        Self { memtable: Arc::downgrade(memtable), entries, keys }
    }

    /// Estimates how many of `all` entries are in `range`.
    fn rows_in(&self, range: &StoredRange, all: u64) -> u64 {
        let before = |bound: &[u8]| self.keys.partition_point(|key| key.as_slice() < bound);
        let end = range.end.as_deref().map_or(self.keys.len(), before);
        let inside = end.saturating_sub(before(&range.start)) as u64;
        all.saturating_mul(inside) / (self.keys.len() as u64).max(1)
    }
}
