//! A run: tables in key order that do not overlap. Its blocks come one after the other.

use super::Files;
use super::table::{BlockRef, Caching, DataBlock, IndexCursor, TableReader};
use crate::read::range::StoredRange;
use lsm_tree::Table;
use std::sync::Arc;
use std::vec;
use store::StoreResult;

/// Up to so many data blocks are walked one by one for a cut: finer than needed is cheap enough.
const WALKED_BLOCKS: u64 = 4096;

/// Tables of one run.
#[derive(Clone)]
pub(crate) struct Run(Arc<[Table]>);

impl Run {
    /// `None` when there is no table.
    pub(crate) fn new(tables: Vec<Table>) -> Option<Self> {
        (!tables.is_empty()).then(|| Self(tables.into()))
    }

    /// Entries: versions and tombstones are counted too.
    pub(crate) fn items(&self) -> u64 {
        self.0.iter().map(|table| table.metadata.item_count).sum()
    }

    /// Divides `range`, but for its last part, into stretches of at least `blocks` data blocks. Where there are
    /// many, to the fineness of the top level of the indexes.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn stretches(&self, files: &Files, range: &StoredRange, blocks: u64) -> StoreResult<Vec<Stretch>> {
        let mut stretches = Vec::new();
        let mut weight = 0;
        let every_block = self.blocks(range) <= WALKED_BLOCKS;
        for table in self.overlapping(range) {
            let reader = TableReader::new(files, table.clone());
            let mut index = if every_block {
                IndexCursor::seek(&reader, &range.start, Caching::Fill)?
            } else {
                IndexCursor::seek_top(&reader, &range.start)?
            };
            let each =
                if every_block { 1 } else { table.metadata.data_block_count / u64::from(index.top_entries()).max(1) };
            while let Some(at) = index.next_block(&reader)? {
                if range.is_past(at.end_key()) {
                    return Ok(stretches);
                }
                weight += each.max(1);
                if weight >= blocks {
                    stretches.push(Stretch { last: at.end_key().to_vec(), weight });
                    weight = 0;
                }
            }
        }
        Ok(stretches)
    }

    /// Data blocks in tables that may hold keys of `range`.
    pub(crate) fn blocks(&self, range: &StoredRange) -> u64 {
        self.overlapping(range).map(|table| table.metadata.data_block_count).sum()
    }

    /// The part of `table`'s blocks that `range` takes, as a fraction, to about the fineness of the top
    /// level of its index.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn share_of_table(&self, files: &Files, table: &Table, range: &StoredRange) -> StoreResult<(u64, u64)> {
        let reader = TableReader::new(files, table.clone());
        let (from, all) = IndexCursor::position(&reader, &range.start)?;
        let to = match &range.end {
            Some(end) => IndexCursor::position(&reader, end)?.0,
            None => all,
        };
        // The blocks at both borders count half each.
        let all = u64::from(all) * 2;
        Ok(((u64::from(to.saturating_sub(from)) * 2 + 1).min(all), all))
    }

    /// The tables that may hold keys of `range`.
    pub(crate) fn overlapping<'a>(&'a self, range: &'a StoredRange) -> impl Iterator<Item = &'a Table> {
        let first = self.0.partition_point(|table| &table.metadata.key_range.max()[..] < range.start.as_slice());
        let tail = self.0.get(first..).unwrap_or_default();
        tail.iter().take_while(|table| !range.is_past(table.metadata.key_range.min()))
    }
}

/// Keys that end with `last`, and how many data blocks hold them.
pub(crate) struct Stretch {
    pub(crate) last: Vec<u8>,
    pub(crate) weight: u64,
}

/// Walks the data blocks of a run from a key on.
pub(crate) struct RunCursor {
    start: Vec<u8>,
    /// Sequence number of the snapshot.
    seqno: u64,
    tables: vec::IntoIter<TableReader>,
    open: Option<OpenTable>,
    index_caching: Caching,
}

struct OpenTable {
    reader: TableReader,
    index: IndexCursor,
    plain: bool,
}

/// A data block that was reached but not yet read.
pub(crate) struct RunBlock<'a> {
    reader: &'a TableReader,
    at: BlockRef,
    /// Is every entry a row? See [`TableReader::is_plain`].
    pub(crate) plain: bool,
    /// Entries are visible when their sequence number, as it stands in the block, is below this.
    pub(crate) visible_below: u64,
    /// To be added to the sequence numbers in the block.
    pub(crate) base_seqno: u64,
}

impl RunCursor {
    /// At the first block of `tables` that may hold a key of at least `start`.
    pub(crate) fn new(tables: Vec<TableReader>, start: Vec<u8>, seqno: u64) -> Self {
        Self { start, seqno, tables: tables.into_iter(), open: None, index_caching: Caching::Fill }
    }

    /// Over no tables.
    pub(crate) fn empty() -> Self {
        Self::new(Vec::new(), Vec::new(), 0)
    }

    /// Reads indexes from disk, too.
    pub(crate) fn past_the_cache(self) -> Self {
        Self { index_caching: Caching::Bypass, ..self }
    }

    /// Passes over the next table if none of its blocks was reached yet, `fits` says so of its first and
    /// last key, and every entry in it is a row; returns the number of these.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn skip_plain_table(&mut self, fits: impl FnOnce(&[u8], &[u8]) -> bool) -> StoreResult<Option<u64>> {
        if self.open.is_some() {
            return Ok(None);
        }
        let Some(reader) = self.tables.as_slice().first() else { return Ok(None) };
        let keys = &reader.table.metadata.key_range;
        if !fits(keys.min(), keys.max()) || !reader.is_plain(self.seqno)? {
            return Ok(None);
        }
        let items = reader.table.metadata.item_count;
        self.tables.next();
        Ok(Some(items))
    }

    /// The next block; `None` behind the last.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn next_block(&mut self) -> StoreResult<Option<RunBlock<'_>>> {
        loop {
            if self.open.is_none() {
                let Some(reader) = self.tables.next() else { return Ok(None) };
                let index = IndexCursor::seek(&reader, &self.start, self.index_caching)?;
                let plain = reader.is_plain(self.seqno)?;
                self.open = Some(OpenTable { reader, index, plain });
            }
            let Some(open) = &mut self.open else { return Ok(None) };
            if let Some(at) = open.index.next_block(&open.reader)? {
                // Borrowed again, since the loop may drop the table otherwise.
                return Ok(self.open.as_ref().map(|open| open.block(at, self.seqno)));
            }
            self.open = None;
        }
    }
}

impl OpenTable {
    fn block(&self, at: BlockRef, seqno: u64) -> RunBlock<'_> {
        let base_seqno = self.reader.table.global_seqno();
        RunBlock {
            reader: &self.reader,
            at,
            plain: self.plain,
            visible_below: seqno.saturating_sub(base_seqno),
            base_seqno,
        }
    }
}

impl RunBlock<'_> {
    /// The last key in it.
    pub(crate) fn end_key(&self) -> &[u8] {
        self.at.end_key()
    }

    /// Reads it.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn read(&self, caching: Caching) -> StoreResult<DataBlock> {
        self.reader.data_block(&self.at, caching)
    }

    /// Where it is, for messages.
    pub(crate) fn place(&self) -> String {
        self.reader.place(self.at.offset)
    }

    /// The error for malformed entries.
    pub(crate) fn damaged(&self, damage: super::Malformed) -> store::StoreError {
        self.reader.damaged(self.at.offset, damage)
    }
}
