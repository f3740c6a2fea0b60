//! Point reads from the memtable, filters and blocks of a view. Finds what fjall's own get finds, with less work:
//! neighbouring keys reuse the block of the key before.

use super::format::Entries;
use super::index::{BlockRef, IndexCursor};
use super::overlay::SharedSlice;
use super::table::{Caching, DataBlock, TableReader};
use super::{Malformed, Run, View};
use lsm_tree::table::filter::standard_bloom::Builder as Bloom;
use std::cmp::Ordering;
use std::sync::Arc;
use store::StoreResult;

/// Reads keys one after the other.
#[derive(Default)]
pub(crate) struct Points {
    /// The block of the previous key.
    last: Option<LastBlock>,
    /// The table of the previous key in each run.
    pub(super) open: Vec<Option<OpenTable>>,
    /// Buffer of the caller for the next stored key.
    pub(crate) key: Vec<u8>,
}

/// A table that is kept open for the next keys.
pub(super) struct OpenTable {
    reader: Arc<TableReader>,
    index: Option<IndexCursor>,
}

struct LastBlock {
    table: u64,
    at: BlockRef,
    data: DataBlock,
}

/// The result of searching a key in a block.
pub(super) enum Found {
    /// The newest visible version; `None` for a tombstone.
    Version(Option<SharedSlice>),
    /// No visible version here or in later blocks.
    Nothing,
    /// No visible version here; later blocks may have one.
    ReadOn,
}

impl Points {
    /// The newest version of the stored key `key` visible at `seqno`; `None` if there is none or if it is a tombstone.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn get(&mut self, view: &View, seqno: u64, key: &[u8]) -> StoreResult<Option<SharedSlice>> {
        if let Some(version) = view.in_memtable(key, seqno) {
            return Ok(version);
        }
        let mut hash = None;
        for (at, run) in view.runs.iter().enumerate() {
            let Some(table) = self.reader(at, run, view, key) else { continue };
            let visible_below = seqno.saturating_sub(table.table.global_seqno());
            if let Some(last) = self.last.as_ref().filter(|last| last.table == table.table.id()) {
                match last.find(&table, key, visible_below)? {
                    Some(Found::Version(version)) => return Ok(version),
                    Some(Found::Nothing) => continue,
                    Some(Found::ReadOn) | None => {}
                }
            }
            let mut may_hold = || table.may_hold(key, *hash.get_or_insert_with(|| Bloom::get_hash(key)));
            // Most requested keys exist in the oldest run, so for that run a cached block is searched without asking
            // the filter.
            let oldest = at + 1 == view.runs.len();
            if (oldest || may_hold()?)
                && let Some(version) = self.read(at, &table, key, visible_below, || Ok(!oldest || may_hold()?))?
            {
                return Ok(version);
            }
        }
        Ok(None)
    }

    /// The reader of the table in the `at`-th run that may contain `key`.
    pub(super) fn reader(&mut self, at: usize, run: &Run, view: &View, key: &[u8]) -> Option<Arc<TableReader>> {
        if at >= self.open.len() {
            self.open.resize_with(view.runs.len().max(at + 1), || None);
        }
        let slot = self.open.get_mut(at)?;
        if let Some(open) = slot.as_ref().filter(|open| open.reader.table.metadata.key_range.contains_key(key)) {
            return Some(Arc::clone(&open.reader));
        }
        let reader = Arc::new(run.reader_for(&view.files, key)?);
        *slot = Some(OpenTable { reader: Arc::clone(&reader), index: None });
        Some(reader)
    }

    /// The index cursor of a run's table, positioned before the first block that may contain `key`.
    pub(super) fn index_at<'t>(
        open: &'t mut [Option<OpenTable>],
        run: usize,
        table: &TableReader,
        key: &[u8],
    ) -> StoreResult<Option<&'t mut IndexCursor>> {
        let Some(open) = open.get_mut(run).and_then(Option::as_mut) else { return Ok(None) };
        Ok(Some(match &mut open.index {
            Some(index) => {
                index.move_to(table, key)?;
                index
            }
            none => none.insert(IndexCursor::seek(table, key, Caching::Fill)?),
        }))
    }

    /// Reads from the first block of the table that may contain `key`. `may_hold` is called before a block is read from
    /// disk.
    fn read(
        &mut self,
        run: usize,
        table: &TableReader,
        key: &[u8],
        visible_below: u64,
        mut may_hold: impl FnMut() -> StoreResult<bool>,
    ) -> StoreResult<Option<Option<SharedSlice>>> {
        let Some(index) = Self::index_at(&mut self.open, run, table, key)? else { return Ok(None) };
        while let Some(at) = index.next_block(table)? {
            let data = match table.cached_block(&at)? {
                Some(data) => data,
                None if !may_hold()? => return Ok(None),
                None => table.data_block(&at, Caching::Fill)?,
            };
            let found = find(&data, key, visible_below).map_err(|damage| table.damaged(at.offset, damage))?;
            self.last = Some(LastBlock { table: table.table.id(), at, data });
            match found {
                Found::Version(version) => return Ok(Some(version)),
                Found::Nothing => return Ok(None),
                Found::ReadOn => {}
            }
        }
        Ok(None)
    }
}

impl LastBlock {
    /// Searches the block; `None` if `key` may be in another block.
    fn find(&self, table: &TableReader, key: &[u8], visible_below: u64) -> StoreResult<Option<Found>> {
        if key > self.at.end_key() {
            return Ok(None);
        }
        let damaged = |damage| table.damaged(self.at.offset, damage);
        let first = Entries::new(&self.data.bytes, &self.data.trailer).and_then(|mut entries| entries.next_entry());
        // The block before may contain newer versions of the first key.
        match first.map_err(damaged)? {
            Some(first) if first.head < key => find(&self.data, key, visible_below).map(Some).map_err(damaged),
            _ => Ok(None),
        }
    }
}

pub(super) fn find(data: &DataBlock, key: &[u8], visible_below: u64) -> Result<Found, Malformed> {
    let mut entries = Entries::seek(&data.bytes, &data.trailer, key)?;
    // Length of the common prefix of `key` and the first key of the interval. Comparing it with the length that an
    // entry shares with that first key mostly gives the order without comparing bytes.
    let mut common = 0;
    while let Some(entry) = entries.next_entry()? {
        let order = if entries.begins_interval() {
            common = common_len(entry.head, key);
            entry.head.get(common..).cmp(&key.get(common..))
        } else {
            match entry.head.len().cmp(&common) {
                Ordering::Equal => entry.rest.cmp(key.get(common..).unwrap_or_default()),
                unequal => unequal.reverse(),
            }
        };
        match order {
            Ordering::Equal if entry.seqno < visible_below => {
                return Ok(Found::Version((!entry.tombstone).then(|| SharedSlice::new(&data.bytes, entry.span()))));
            }
            Ordering::Greater => return Ok(Found::Nothing),
            Ordering::Less | Ordering::Equal => {}
        }
    }
    Ok(Found::ReadOn)
}

/// Length of the common prefix.
fn common_len(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}
