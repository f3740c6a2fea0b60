//! The content of a keyspace: its memtable and its runs of tables.

use super::lens::TreeParts;
use super::overlay::MemtableEntries;
use super::{Run, RunCursor, SharedSlice};
use crate::read::ReadSource;
use crate::read::range::StoredRange;
use fjall::{AbstractTree, AnyTree};
use lsm_tree::{DescriptorTable, Memtable, Table};
use std::sync::Arc;
use store::TableSize;

/// Attempts to get a consistent rough view during flushes.
const MAX_TRIES: u32 = 4;

/// A memtable and tables that together contain every version visible at a snapshot. A view keeps its files: compaction
/// removes a table's file only with the last handle.
pub(crate) struct View {
    pub(crate) memtable: Arc<Memtable>,
    /// Memtables that wait for their flush; only in a rough view.
    sealed: Vec<Arc<Memtable>>,
    /// Runs from the newest to the oldest.
    pub(crate) runs: Vec<Run>,
    pub(crate) files: Files,
    /// The tree version with these runs, and the sequence number that the view was taken for.
    version: u64,
    seqno: u64,
    /// Number of data blocks in the whole tree.
    pub(super) data_blocks: u64,
    /// Capacity of the block cache in bytes of uncompressed blocks.
    pub(super) cache_bytes: u64,
}

/// Properties of the tree that its table readers need.
#[derive(Clone)]
pub(crate) struct Files {
    pub(crate) tree_id: u64,
    pub(crate) descriptors: Option<Arc<DescriptorTable>>,
}

impl View {
    /// The view of `tree` for readers at `seqno`. `None` if the blocks do not contain all rows: some are in sealed
    /// memtables, which are inaccessible until they are flushed and a newer snapshot is taken, or values are separated
    /// from keys.
    pub(super) fn of(tree: &AnyTree, seqno: u64, memtable: Arc<Memtable>, parts: TreeParts) -> Option<Self> {
        if matches!(tree, AnyTree::Blob(_)) || parts.sealed > 0 {
            return None;
        }
        let TreeParts { runs, version, data_blocks, .. } = parts;
        Some(Self { version, seqno, ..Self::new(tree, memtable, runs, data_blocks) })
    }

    /// Returns true if the view is also valid at `seqno`. Tree versions and memtables are never reused, so if both are
    /// still those of this view, nothing changed in between.
    pub(crate) fn serves(&self, tree: &AnyTree, seqno: u64) -> bool {
        self.seqno <= seqno
            && tree.current_version().id() == self.version
            && Arc::ptr_eq(&tree.active_memtable(), &self.memtable)
    }

    /// The current content of the keyspace of `source`, as far as it overlaps `range`. For estimates and verification,
    /// which need not match a snapshot.
    pub(crate) fn roughly(source: &ReadSource, range: &StoredRange) -> Self {
        let (tree, mut tries) = (&source.keyspace.tree, 0);
        // Otherwise rows that a concurrent flush moves from a memtable to a table would be in both or in neither.
        let (memtable, sealed, version) = loop {
            tries += 1;
            let (memtable, version) = (tree.active_memtable(), tree.current_version());
            let first = memtable.id().saturating_sub(tree.sealed_memtable_count() as u64);
            let sealed = source.views.memtables.numbered(source.keyspace.id(), first..memtable.id());
            let stayed = tree.current_version().id() == version.id() && Arc::ptr_eq(&tree.active_memtable(), &memtable);
            if stayed || tries == MAX_TRIES {
                break (memtable, sealed, version);
            }
        };
        let mut runs = Vec::new();
        let data_blocks = version.iter_tables().map(|table| table.metadata.data_block_count).sum();
        for run in version.iter_levels().flat_map(|level| level.iter()) {
            let tables = run.iter().filter(|table| {
                let keys = &table.metadata.key_range;
                range.overlaps(keys.min(), keys.max())
            });
            runs.push(tables.cloned().collect());
        }
        Self { sealed, ..Self::new(tree, memtable, runs, data_blocks) }
    }

    fn new(tree: &AnyTree, memtable: Arc<Memtable>, runs: Vec<Vec<Table>>, data_blocks: u64) -> Self {
        let files = Files { tree_id: tree.id(), descriptors: tree.tree_config().descriptor_table.clone() };
        let cache_bytes = tree.tree_config().cache.capacity();
        let runs = runs.into_iter().filter_map(Run::new).collect();
        let sealed = Vec::new();
        Self { memtable, sealed, runs, files, version: 0, seqno: 0, data_blocks, cache_bytes }
    }

    /// The newest version of the stored key `key` visible at `seqno` in the memtable. `Some(None)` for a tombstone.
    pub(super) fn in_memtable(&self, key: &[u8], seqno: u64) -> Option<Option<SharedSlice>> {
        if self.memtable.is_empty() {
            return None;
        }
        let found = self.memtable.get(key, seqno)?;
        Some((!found.key.is_tombstone()).then(|| SharedSlice::whole(found.value)))
    }

    /// Estimates the size of `range` in each memtable.
    pub(crate) fn memtable_shares(&self, source: &ReadSource, range: &StoredRange) -> Vec<TableSize> {
        let share = |memtable| source.views.samples.share(source.keyspace.id(), memtable, range);
        self.sealed.iter().chain([&self.memtable]).map(share).collect()
    }

    /// Returns true if the memtable has an entry in `range`, visible or not.
    pub(crate) fn memtable_has_any(&self, range: &StoredRange) -> bool {
        !self.memtable.is_empty() && MemtableEntries::new(self.memtable.clone(), range, u64::MAX).count_up_to(1) > 0
    }

    /// The runs that may contain keys of `range`: the one with the most entries in its tables, and the others.
    pub(crate) fn base_and_rest(&self, range: &StoredRange) -> (Option<Run>, Vec<Run>) {
        let mut rest: Vec<Run> = self.runs.iter().map(|run| run.within(range)).collect();
        rest.retain(|run| !run.is_empty());
        let base = match rest.as_slice() {
            [] => None,
            [_] => Some(0),
            several => several.iter().enumerate().max_by_key(|(_, run)| run.items()).map(|(at, _)| at),
        };
        (base.map(|base| rest.remove(base)), rest)
    }

    /// The run with the most entries.
    pub(crate) fn base(&self) -> Option<&Run> {
        self.runs.iter().max_by_key(|run| run.items())
    }
}

impl ReadSource {
    /// The blocks of `run` from the first that may contain keys of `range`, at this source's snapshot.
    pub(crate) fn blocks(&self, files: &Files, run: Option<Run>, range: &StoredRange) -> RunCursor {
        RunCursor::new(files, run, range.start.clone(), self.seqno())
    }
}
