//! What a keyspace consists of at one moment: its memtable and its runs of tables.

use super::overlay::MemtableEntries;
use super::{Run, RunCursor, TableReader};
use crate::read::ReadSource;
use crate::read::range::StoredRange;
use fjall::{AbstractTree, AnyTree, Keyspace};
use lsm_tree::{DescriptorTable, Memtable};
use std::sync::Arc;
use store::TableSize;

/// A memtable and tables that together hold every version visible at a snapshot. Holding it keeps the
/// files: compaction removes a table's file only when the last handle is gone.
#[derive(Clone)]
pub(crate) struct View {
    pub(crate) memtable: Arc<Memtable>,
    /// Runs from the newest to the oldest.
    pub(crate) runs: Vec<Run>,
    pub(crate) files: Files,
}

/// What the tables of a tree have in common beyond the block cache.
#[derive(Clone)]
pub(crate) struct Files {
    pub(crate) tree_id: u64,
    pub(crate) descriptors: Option<Arc<DescriptorTable>>,
}

impl View {
    /// The view for reading `range` of `keyspace`, restricted to tables that overlap it. `None` when the
    /// blocks cannot serve a reader: some rows are in sealed memtables, which are out of reach until
    /// they are flushed, or values are kept apart from keys.
    ///
    /// The memtable is taken before the version. A flush that ends in between shows its rows twice,
    /// which does no harm; the other way round they would be in neither. Rows that are written into
    /// a later memtable meanwhile are newer than any snapshot that was taken before.
    pub(crate) fn open(keyspace: &Keyspace, range: &StoredRange) -> Option<Self> {
        let tree = &keyspace.tree;
        let memtable = tree.active_memtable();
        if tree.sealed_memtable_count() > 0 || matches!(tree, AnyTree::Blob(_)) {
            return None;
        }
        Some(Self::of_tables(keyspace, memtable, range))
    }

    /// As [`View::open`] for estimates, which may overlook sealed memtables.
    pub(crate) fn roughly(keyspace: &Keyspace, range: &StoredRange) -> Self {
        Self::of_tables(keyspace, keyspace.tree.active_memtable(), range)
    }

    fn of_tables(keyspace: &Keyspace, memtable: Arc<Memtable>, range: &StoredRange) -> Self {
        let tree = &keyspace.tree;
        let version = tree.current_version();
        let mut runs = Vec::new();
        for level in version.iter_levels() {
            for run in level.iter() {
                let tables = run.iter().filter(|table| {
                    let keys = &table.metadata.key_range;
                    range.overlaps(keys.min(), keys.max())
                });
                runs.extend(Run::new(tables.cloned().collect()));
            }
        }
        let files = Files { tree_id: tree.id(), descriptors: tree.tree_config().descriptor_table.clone() };
        Self { memtable, runs, files }
    }

    /// About what the memtable holds of `range`: exact up to `counted` entries.
    pub(crate) fn memtable_share(&self, range: &StoredRange, counted: u64) -> TableSize {
        let all = self.memtable.len() as u64;
        let entries = MemtableEntries::new(self.memtable.clone(), range).count_up_to(counted);
        // How the rest is spread cannot be told cheaply: half of it is never far off.
        let rows = if entries < counted { entries } else { entries.max(all / 2) };
        TableSize { rows, bytes: self.memtable.size().saturating_mul(rows) / all.max(1) }
    }

    /// The run with most entries, taken out of the view; what is left is the overlay.
    pub(crate) fn take_base(&mut self) -> Option<Run> {
        let (base, _) = self.runs.iter().enumerate().max_by_key(|(_, run)| run.items())?;
        Some(self.runs.remove(base))
    }

    /// The run with most entries.
    pub(crate) fn base(&self) -> Option<&Run> {
        self.runs.iter().max_by_key(|run| run.items())
    }
}

impl ReadSource {
    /// The blocks of `run` that may hold keys of `range`, as of this source's snapshot.
    pub(crate) fn blocks(&self, files: &Files, run: &Run, range: &StoredRange) -> RunCursor {
        let tables = run.overlapping(range).map(|table| TableReader::new(files, table.clone()));
        RunCursor::new(tables.collect(), range.start.clone(), self.snapshot.seqno())
    }
}
