//! Point reads of several keys at a time.
//!
//! Rows of a large table are mostly not in the CPU cache, and each step to a row (the block's trailer, the heads of the
//! intervals, the entries) waits for the one before. So each step is done for a group of keys before the next: the CPU
//! overlaps their memory accesses (Kocberber and others, "Asynchronous Memory Access Chaining", VLDB 2015).

use super::index::BlockRef;
use super::points::{Found, Points, find};
use super::table::{Caching, DataBlock, TableReader};
use super::{Run, SharedSlice, View};
use lsm_tree::table::filter::standard_bloom::Builder as Bloom;
use std::sync::Arc;
use store::StoreResult;

/// Keys per group: about the number of cache misses that a core can have outstanding.
pub(crate) const GROUP: usize = 16;

/// A key, by its index in the group, and the block that may contain it.
struct CandidateBlock {
    key: usize,
    table: Arc<TableReader>,
    at: BlockRef,
    block: DataBlock,
}

impl CandidateBlock {
    /// Returns true if this block is also the first that may contain `key`. `key` must not be below this key.
    fn serves(&self, table: &TableReader, key: &[u8]) -> bool {
        self.table.is_same(table) && key <= self.at.end_key()
    }

    fn shares_block(&self, other: &Self) -> bool {
        self.table.is_same(&other.table) && self.at.offset == other.at.offset
    }
}

impl Points {
    /// As [`Points::get`] for up to [`GROUP`] keys in ascending order.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn get_group(
        &mut self,
        view: &View,
        seqno: u64,
        keys: &[&[u8]],
    ) -> StoreResult<Vec<Option<SharedSlice>>> {
        // `None`: not found so far. `Some(None)`: found a tombstone.
        let mut found: Vec<Option<Option<SharedSlice>>> = keys.iter().map(|key| view.in_memtable(key, seqno)).collect();
        for (number, run) in view.runs.iter().enumerate() {
            let open = keys.iter().copied().enumerate().filter(|(key, _)| matches!(found.get(*key), Some(None)));
            let approached = self.approach(view, (number, run), open)?;
            // Reads the heads of all intervals at once; a binary search would wait for each in turn.
            let blocks = approached.chunk_by(CandidateBlock::shares_block).filter_map(<[_]>::first);
            std::hint::black_box(blocks.fold(0, |sum, near| sum ^ near.block.touch_intervals()));
            for CandidateBlock { key: place, table, at, block } in approached {
                let (Some(key), Some(found)) = (keys.get(place), found.get_mut(place)) else { continue };
                let visible_below = seqno.saturating_sub(table.table.global_seqno());
                match find(&block, key, visible_below).map_err(|damage| table.damaged(at.offset, damage))? {
                    Found::Version(version) => *found = Some(version),
                    Found::Nothing => {}
                    // Older versions of the key may be in the next block.
                    Found::ReadOn => *found = Some(self.get(view, seqno, key)?),
                }
            }
        }
        Ok(found.into_iter().map(Option::flatten).collect())
    }

    /// The blocks of a run that may contain the keys.
    fn approach<'k>(
        &mut self,
        view: &View,
        (number, run): (usize, &Run),
        keys: impl Iterator<Item = (usize, &'k [u8])>,
    ) -> StoreResult<Vec<CandidateBlock>> {
        let is_oldest = number + 1 == view.runs.len();
        let mut approached: Vec<CandidateBlock> = Vec::with_capacity(GROUP);
        for (place, key) in keys {
            let Some(table) = self.reader(number, run, view, key) else { continue };
            let may_hold = || table.may_hold(key, Bloom::get_hash(key));
            if !is_oldest && !may_hold()? {
                continue;
            }
            if let Some(last) = approached.last().filter(|last| last.serves(&table, key)) {
                let (at, block) = (last.at.clone(), last.block.clone());
                approached.push(CandidateBlock { key: place, table, at, block });
                continue;
            }
            let Some(index) = Self::index_at(&mut self.open, number, &table, key)? else { continue };
            let Some(at) = index.next_block(&table)? else { continue };
            let block = match table.cached_block(&at)? {
                Some(block) => block,
                None if is_oldest && !may_hold()? => continue,
                None => table.data_block(&at, Caching::Fill)?,
            };
            approached.push(CandidateBlock { key: place, table, at, block });
        }
        Ok(approached)
    }
}
