//! Several rows by their keys at a time.
//!
//! A row of a large table lies in memory that no core has looked at lately, and each step on the way to it, to the end of its
//! block, to the heads of the intervals, to the entries, waits for the one before. So the steps are taken for a group of keys
//! side by side: a core goes on to the next key while it waits for the memory of one (Kocberber and others, "Asynchronous
//! Memory Access Chaining", VLDB 2015).

use super::points::{Found, Points, find};
use super::table::{Caching, DataBlock, TableReader};
use super::{Lent, Run, View};
use lsm_tree::table::filter::standard_bloom::Builder as Bloom;
use std::sync::Arc;
use store::StoreResult;

/// Keys of a group: a core waits for about so many lines of memory at the same time.
pub(crate) const GROUP: usize = 16;

/// A key, by its place in the group, and the block that may hold it.
struct Approached {
    key: usize,
    table: Arc<TableReader>,
    offset: u64,
    block: DataBlock,
}

impl Points {
    /// As [`Points::get`] for each of `keys`, some [`GROUP`] of them in ascending order.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn get_group(&mut self, view: &View, seqno: u64, keys: &[Vec<u8>]) -> StoreResult<Vec<Option<Lent>>> {
        // `None`: not found so far; of those that are found some are deleted.
        let mut found: Vec<Option<Option<Lent>>> = keys.iter().map(|key| view.in_memtable(key, seqno)).collect();
        for (number, run) in view.runs.iter().enumerate() {
            let open = keys.iter().enumerate().filter(|(key, _)| matches!(found.get(*key), Some(None)));
            let approached = self.approach(view, (number, run), open)?;
            // The heads of all intervals at once: a search among them would wait for each in turn.
            std::hint::black_box(approached.iter().fold(0, |sum, near| sum ^ near.block.touch_intervals()));
            for Approached { key: place, table, offset, block } in approached {
                let (Some(key), Some(found)) = (keys.get(place), found.get_mut(place)) else { continue };
                let visible_below = seqno.saturating_sub(table.table.global_seqno());
                match find(&block, key, visible_below).map_err(|damage| table.damaged(offset, damage))? {
                    Found::Version(version) => *found = Some(version),
                    Found::Nothing => {}
                    // Older versions of the key are in the next block.
                    Found::ReadOn => *found = Some(self.get(view, seqno, key)?),
                }
            }
        }
        Ok(found.into_iter().map(Option::flatten).collect())
    }

    /// The blocks of a run that may hold the keys.
    fn approach<'k>(
        &mut self,
        view: &View,
        (number, run): (usize, &Run),
        keys: impl Iterator<Item = (usize, &'k Vec<u8>)>,
    ) -> StoreResult<Vec<Approached>> {
        let is_oldest = number + 1 == view.runs.len();
        let mut approached: Vec<Approached> = Vec::with_capacity(GROUP);
        for (place, key) in keys {
            let Some(table) = self.reader(number, run, view, key) else { continue };
            let may_hold = || table.may_hold(key, Bloom::get_hash(key));
            if !is_oldest && !may_hold()? {
                continue;
            }
            let Some(index) = Self::index_at(&mut self.open, number, &table, key)? else { continue };
            let Some(at) = index.next_block(&table)? else { continue };
            let last = approached.last().filter(|last| last.offset == at.offset && last.table.is_same(&table));
            let block = match last {
                Some(last) => last.block.clone(),
                None => match table.cached_block(&at)? {
                    Some(block) => block,
                    None if is_oldest && !may_hold()? => continue,
                    None => table.data_block(&at, Caching::Fill)?,
                },
            };
            approached.push(Approached { key: place, table, offset: at.offset, block });
        }
        Ok(approached)
    }
}
