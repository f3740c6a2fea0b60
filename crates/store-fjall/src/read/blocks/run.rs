//! A run: tables in key order that do not overlap.

use super::index::{BlockRef, IndexCursor, TopIndex};
use super::table::{Caching, DataBlock, TableReader};
use super::{Files, ScanCaching};
use crate::read::range::StoredRange;
use lsm_tree::Table;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use store::StoreResult;

/// Up to this many data blocks are visited one by one for a split, even if a coarser one would do.
const WALKED_BLOCKS: u64 = 4096;

/// A backward scan of more tables uses the iterator.
const MOST_TABLES: usize = 4;

/// Neighbouring tables of one run. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Run {
    /// The whole run.
    all: Arc<[KnownTable]>,
    /// The selected tables.
    part: Range<usize>,
}

/// A table and cached properties of it.
pub(crate) struct KnownTable {
    table: Table,
    /// See [`TableReader::has_one_version_per_key`].
    one_version_per_key: OnceLock<bool>,
    top: TopIndex,
}

impl Run {
    /// `None` if there are no tables.
    pub(crate) fn new(tables: Vec<Table>) -> Option<Self> {
        let part = 0..tables.len();
        let known = |table| KnownTable { table, one_version_per_key: OnceLock::new(), top: TopIndex::default() };
        (!tables.is_empty()).then(|| Self { all: tables.into_iter().map(known).collect(), part })
    }

    /// The selected tables with their cached properties.
    pub(crate) fn known(&self) -> &[KnownTable] {
        self.all.get(self.part.clone()).unwrap_or_default()
    }

    /// The selected tables.
    pub(crate) fn tables(&self) -> impl DoubleEndedIterator<Item = &Table> {
        self.known().iter().map(|known| &known.table)
    }

    /// Returns true if no table is selected.
    pub(crate) fn is_empty(&self) -> bool {
        self.part.is_empty()
    }

    /// Number of entries, including old versions and tombstones.
    pub(crate) fn items(&self) -> u64 {
        self.tables().map(|table| table.metadata.item_count).sum()
    }

    /// Selects the tables that may contain keys of `range`.
    pub(crate) fn within(&self, range: &StoredRange) -> Self {
        let known = self.known();
        let from = known.partition_point(|known| &known.table.metadata.key_range.max()[..] < range.start.as_slice());
        let tail = known.get(from..).unwrap_or_default();
        let taken = tail.partition_point(|known| !range.is_past(known.table.metadata.key_range.min()));
        let from = self.part.start + from;
        Self { all: Arc::clone(&self.all), part: from..from + taken }
    }

    /// The reader of the table that may contain `key`.
    pub(crate) fn reader_for(&self, files: &Files, key: &[u8]) -> Option<TableReader> {
        let known = self.known();
        let at = known.partition_point(|known| &known.table.metadata.key_range.max()[..] < key);
        let known = known.get(at)?;
        (&known.table.metadata.key_range.min()[..] <= key).then(|| known.reader(files))
    }

    /// Divides `range`, except its last part, into stretches of at least `blocks` data blocks. With many blocks, at the
    /// granularity of the indexes' top level.
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
            let each = match every_block {
                true => 1,
                false => (table.metadata.data_block_count / u64::from(index.top_entries()).max(1)).max(1),
            };
            loop {
                let missing = blocks.saturating_sub(weight).div_ceil(each);
                let skipped = index.skip(u32::try_from(missing).unwrap_or(u32::MAX).saturating_sub(1));
                let Some(at) = index.next_block(&reader)? else { break };
                if range.is_past(at.end_key()) {
                    return Ok(stretches);
                }
                weight += each * (1 + u64::from(skipped));
                if weight >= blocks {
                    stretches.push(Stretch { last: at.end_key().to_vec(), weight });
                    weight = 0;
                }
            }
        }
        Ok(stretches)
    }

    /// Number of data blocks in tables that may contain keys of `range`.
    pub(crate) fn blocks(&self, range: &StoredRange) -> u64 {
        self.within(range).tables().map(|table| table.metadata.data_block_count).sum()
    }
}

impl KnownTable {
    pub(crate) fn table(&self) -> &Table {
        &self.table
    }

    /// The fraction of the table's blocks in `range`, estimated from the top level of its index.
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
        // The blocks at both bounds count half each.
        let all = u64::from(all) * 2;
        Ok(((u64::from(to.saturating_sub(from)) * 2 + 1).min(all), all))
    }

    fn reader(&self, files: &Files) -> TableReader {
        TableReader::new(files, self.table.clone(), self.top.clone())
    }

    /// Returns true if each entry is one row for this run: no tombstones, no entries invisible at `seqno`, and one
    /// version per key. `reader` must be that of this table.
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

/// A key range up to `last`, and its number of data blocks.
pub(crate) struct Stretch {
    pub(crate) last: Vec<u8>,
    pub(crate) weight: u64,
}

/// A cursor over the data blocks of a run, starting at a key.
pub(crate) struct RunCursor {
    start: Vec<u8>,
    /// Sequence number of the snapshot.
    seqno: u64,
    files: Files,
    /// Remaining tables; `None` without tables.
    ahead: Option<Run>,
    open: Option<OpenTable>,
    index_caching: Caching,
}

struct OpenTable {
    reader: TableReader,
    index: IndexCursor,
    plain: bool,
}

/// A data block that is not read yet.
pub(crate) struct RunBlock<'a> {
    reader: &'a TableReader,
    at: BlockRef,
    /// Whether every entry is a row, see [`KnownTable::is_plain`].
    pub(crate) plain: bool,
    /// Entries are visible if their sequence number in the block is below this.
    pub(crate) visible_below: u64,
    /// Added to the sequence numbers in the block.
    pub(crate) base_seqno: u64,
}

impl RunCursor {
    /// Positions at the first block of `run` that may contain a key not below `start`.
    pub(crate) fn new(files: &Files, run: Option<Run>, start: Vec<u8>, seqno: u64) -> Self {
        Self { start, seqno, files: files.clone(), ahead: run, open: None, index_caching: Caching::Fill }
    }

    /// Bypasses the cache for indexes, too.
    pub(crate) fn past_the_cache(self) -> Self {
        Self { index_caching: Caching::Bypass, ..self }
    }

    /// Skips the next table if none of its blocks was read yet, `fits` holds for its first and last key, and every
    /// entry in it is a row. Returns the number of rows.
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

    /// The next block; `None` after the last.
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
                // Borrowed again, because the loop may otherwise drop the table.
                return Ok(self.open.as_ref().map(|open| open.block(at, self.seqno)));
            }
            self.open = None;
        }
    }
}

/// A backward cursor over the data blocks of a run.
pub(crate) struct ReverseCursor {
    files: Files,
    /// Upper bound of the keys, exclusive.
    end: Option<Vec<u8>>,
    /// Remaining tables; `None` without tables.
    ahead: Option<Run>,
    open: Option<(TableReader, IndexCursor)>,
    /// Offset of the last block.
    offset: u64,
}

impl ReverseCursor {
    /// Positions at the last block of `run` that may contain a key below `end`. `None` if some entries may not be rows,
    /// or if there are too many tables to check.
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

    /// The previous block; `None` before the first.
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
    /// The last key of the block.
    pub(crate) fn end_key(&self) -> &[u8] {
        self.at.end_key()
    }

    /// Reads the block.
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

    /// Describes the location of the block, for messages.
    pub(crate) fn place(&self) -> String {
        self.reader.place(self.at.offset)
    }

    /// The error for malformed entries.
    pub(crate) fn damaged(&self, damage: super::Malformed) -> store::StoreError {
        self.reader.damaged(self.at.offset, damage)
    }
}
