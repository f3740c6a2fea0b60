//! A run: tables in key order that do not overlap. Its blocks come one after the other.

use super::index::{BlockRef, IndexCursor, TopIndex};
use super::table::{Caching, DataBlock, TableReader};
use super::{Files, ScanCaching};
use crate::read::range::StoredRange;
use lsm_tree::Table;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use store::StoreResult;

/// Up to so many data blocks are walked one by one for a cut: finer than needed is cheap enough.
const WALKED_BLOCKS: u64 = 4096;

/// A walk backward over more tables is left to others.
const MOST_TABLES: usize = 4;

/// Neighbouring tables of one run. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Run {
    /// The whole run.
    all: Arc<[KnownTable]>,
    /// Those that are meant.
    part: Range<usize>,
}

/// A table and what was found out about it.
pub(crate) struct KnownTable {
    table: Table,
    /// See [`TableReader::has_one_version_per_key`].
    one_version_per_key: OnceLock<bool>,
    top: TopIndex,
}

impl Run {
    /// `None` when there is no table.
    pub(crate) fn new(tables: Vec<Table>) -> Option<Self> {
        let part = 0..tables.len();
        let known = |table| KnownTable { table, one_version_per_key: OnceLock::new(), top: TopIndex::default() };
        (!tables.is_empty()).then(|| Self { all: tables.into_iter().map(known).collect(), part })
    }

    /// Its tables, with what was found out about them.
    pub(crate) fn known(&self) -> &[KnownTable] {
        self.all.get(self.part.clone()).unwrap_or_default()
    }

    /// Its tables.
    pub(crate) fn tables(&self) -> impl DoubleEndedIterator<Item = &Table> {
        self.known().iter().map(|known| &known.table)
    }

    /// Has it no table?
    pub(crate) fn is_empty(&self) -> bool {
        self.part.is_empty()
    }

    /// Entries: versions and tombstones are counted too.
    pub(crate) fn items(&self) -> u64 {
        self.tables().map(|table| table.metadata.item_count).sum()
    }

    /// The tables that may hold keys of `range`.
    pub(crate) fn within(&self, range: &StoredRange) -> Self {
        let known = self.known();
        let from = known.partition_point(|known| &known.table.metadata.key_range.max()[..] < range.start.as_slice());
        let tail = known.get(from..).unwrap_or_default();
        let taken = tail.partition_point(|known| !range.is_past(known.table.metadata.key_range.min()));
        let from = self.part.start + from;
        Self { all: Arc::clone(&self.all), part: from..from + taken }
    }

    /// Reads the table that may hold `key`.
    pub(crate) fn reader_for(&self, files: &Files, key: &[u8]) -> Option<TableReader> {
        let known = self.known();
        let at = known.partition_point(|known| &known.table.metadata.key_range.max()[..] < key);
        let known = known.get(at)?;
        (&known.table.metadata.key_range.min()[..] <= key).then(|| known.reader(files))
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
        for known in self.within(range).known() {
            let (reader, table) = (known.reader(files), &known.table);
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
        self.within(range).tables().map(|table| table.metadata.data_block_count).sum()
    }
}

impl KnownTable {
    pub(crate) fn table(&self) -> &Table {
        &self.table
    }

    /// The part of the table's blocks that `range` takes, as a fraction, to about the fineness of the top level of its
    /// index.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn share(&self, files: &Files, range: &StoredRange) -> StoreResult<(u64, u64)> {
        let reader = self.reader(files);
        let (from, all) = IndexCursor::position(&reader, &range.start)?;
        let to = match &range.end {
            Some(end) => IndexCursor::position(&reader, end)?.0,
            None => all,
        };
        // The blocks at both borders count half each.
        let all = u64::from(all) * 2;
        Ok(((u64::from(to.saturating_sub(from)) * 2 + 1).min(all), all))
    }

    fn reader(&self, files: &Files) -> TableReader {
        TableReader::new(files, self.table.clone(), self.top.clone())
    }

    /// Can no entry be a tombstone, invisible at `seqno`, or an older version of a key of this table?
    /// Then each entry is one row as of this run. `reader` is the table's own.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    fn is_plain(&self, reader: &TableReader, seqno: u64) -> StoreResult<bool> {
        let meta = &self.table.metadata;
        if meta.tombstone_count > 0 || meta.weak_tombstone_count > 0 || self.table.get_highest_seqno() >= seqno {
            return Ok(false);
        }
        if let Some(known) = self.one_version_per_key.get() {
            return Ok(*known);
        }
        let found = reader.has_one_version_per_key()?;
        Ok(*self.one_version_per_key.get_or_init(|| found))
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
    files: Files,
    /// Tables not yet begun; `None` over no tables.
    ahead: Option<Run>,
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
    /// Is every entry a row? See [`KnownTable::is_plain`].
    pub(crate) plain: bool,
    /// Entries are visible when their sequence number, as it stands in the block, is below this.
    pub(crate) visible_below: u64,
    /// To be added to the sequence numbers in the block.
    pub(crate) base_seqno: u64,
}

impl RunCursor {
    /// At the first block of `run` that may hold a key of at least `start`.
    pub(crate) fn new(files: &Files, run: Option<Run>, start: Vec<u8>, seqno: u64) -> Self {
        Self { start, seqno, files: files.clone(), ahead: run, open: None, index_caching: Caching::Fill }
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
        let Some(run) = &mut self.ahead else { return Ok(None) };
        let Some(known) = run.known().first() else { return Ok(None) };
        let keys = &known.table.metadata.key_range;
        if !fits(keys.min(), keys.max()) || !known.is_plain(&known.reader(&self.files), self.seqno)? {
            return Ok(None);
        }
        let items = known.table.metadata.item_count;
        run.part.start += 1;
        Ok(Some(items))
    }

    /// The next block; `None` behind the last.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn next_block(&mut self) -> StoreResult<Option<RunBlock<'_>>> {
        loop {
            if self.open.is_none() {
                let Some(run) = &mut self.ahead else { return Ok(None) };
                let Some(known) = run.known().first() else { return Ok(None) };
                let reader = known.reader(&self.files);
                let index = IndexCursor::seek(&reader, &self.start, self.index_caching)?;
                let plain = known.is_plain(&reader, self.seqno)?;
                run.part.start += 1;
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

/// Walks the data blocks of a run backward.
pub(crate) struct BackCursor {
    files: Files,
    /// Up to which key, not inclusive.
    end: Option<Vec<u8>>,
    /// Tables not yet begun; `None` over no tables.
    ahead: Option<Run>,
    open: Option<(TableReader, IndexCursor)>,
    /// Where the last block was.
    offset: u64,
}

impl BackCursor {
    /// At the last block of `run` that may hold a key below `end`. `None` when some entries may be no rows, or the
    /// tables are too many to be asked.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn new(files: &Files, run: Option<Run>, end: Option<&[u8]>, seqno: u64) -> StoreResult<Option<Self>> {
        let tables = run.as_ref().map_or(&[][..], Run::known);
        if tables.len() > MOST_TABLES {
            return Ok(None);
        }
        for known in tables {
            if !known.is_plain(&known.reader(files), seqno)? {
                return Ok(None);
            }
        }
        Ok(Some(Self { files: files.clone(), end: end.map(<[u8]>::to_vec), ahead: run, open: None, offset: 0 }))
    }

    /// The block before; `None` in front of the first.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn next_block(&mut self, caching: &mut ScanCaching) -> StoreResult<Option<DataBlock>> {
        loop {
            if let Some((reader, index)) = &mut self.open
                && let Some(at) = index.block_before(reader)?
            {
                self.offset = at.offset;
                let data = reader.data_block(&at, caching.of_block(&reader.table, at.offset))?;
                caching.has_read(data.bytes.len());
                return Ok(Some(data));
            }
            let Some(run) = &mut self.ahead else { return Ok(None) };
            let Some(known) = run.known().last() else { return Ok(None) };
            let reader = known.reader(&self.files);
            let index = IndexCursor::seek_end(&reader, self.end.as_deref())?;
            run.part.end -= 1;
            self.open = Some((reader, index));
        }
    }

    /// The error for malformed entries in the last block.
    pub(crate) fn damaged(&self, damage: super::Malformed) -> store::StoreError {
        match &self.open {
            Some((reader, _)) => reader.damaged(self.offset, damage),
            None => store::StoreError::Corrupted { detail: "a malformed block".to_string() },
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

    /// As [`Self::read`], for a scan.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn scan(&self, caching: &mut ScanCaching) -> StoreResult<DataBlock> {
        let data = self.read(caching.of_block(&self.reader.table, self.at.offset))?;
        caching.has_read(data.bytes.len());
        Ok(data)
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
