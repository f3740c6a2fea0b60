//! Iterates over the index of a table: one or two levels of blocks with the handles of the data blocks.

use super::format::{self, IndexEntry, Trailer};
use super::table::{Caching, TableReader};
use fjall::Slice;
use lsm_tree::table::block::BlockType;
use lsm_tree::table::{BlockHandle, BlockOffset};
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use store::StoreResult;

/// The handle of a data block, and its last key.
#[derive(Clone, Debug)]
pub(crate) struct BlockRef {
    pub(crate) offset: u64,
    pub(crate) size: u32,
    /// The index block that contains `end_key`.
    page: Slice,
    end_key: Range<usize>,
}

impl BlockRef {
    /// The last key of the block.
    pub(crate) fn end_key(&self) -> &[u8] {
        self.page.get(self.end_key.clone()).unwrap_or_default()
    }
}

/// The top level of a table's index, cached after the first read.
#[derive(Clone, Default)]
pub(crate) struct TopIndex(Arc<OnceLock<(Slice, Trailer)>>);

/// A cursor over the index of a table: its data blocks in key order.
pub(crate) struct IndexCursor {
    caching: Caching,
    /// The top level. Points to leaves or, in small tables, to the data blocks.
    top: Page,
    two_levels: bool,
    leaf: Option<Page>,
}

/// An index block, and the position of the next entry.
pub(super) struct Page {
    bytes: Slice,
    trailer: Trailer,
    offset: u64,
    next: u32,
}

impl IndexCursor {
    /// Positions before the first block.
    fn new(reader: &TableReader, caching: Caching) -> StoreResult<Self> {
        let top = Page::top(reader, caching)?;
        Ok(Self { caching, top, two_levels: reader.table.regions.index.is_some(), leaf: None })
    }

    /// Positions at the first block that may contain a key not below `key`.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn seek(reader: &TableReader, key: &[u8], caching: Caching) -> StoreResult<Self> {
        let mut cursor = Self::new(reader, caching)?;
        cursor.move_to(reader, key)?;
        Ok(cursor)
    }

    /// Moves to the first block that may contain a key not below `key`. The cursor must belong to `reader`.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn move_to(&mut self, reader: &TableReader, key: &[u8]) -> StoreResult<()> {
        self.top.seek(reader, key)?;
        if !self.two_levels {
            return Ok(());
        }
        let at = self.top.next_entry(reader)?;
        let is_open = self.leaf.as_ref().zip(at.as_ref()).is_some_and(|(leaf, at)| leaf.offset == at.offset);
        if is_open || self.load_leaf(reader, at)? {
            self.leaf.iter_mut().try_for_each(|leaf| leaf.seek(reader, key))?;
        }
        Ok(())
    }

    /// The next data block; `None` after the last.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn next_block(&mut self, reader: &TableReader) -> StoreResult<Option<BlockRef>> {
        if !self.two_levels {
            return self.top.next_entry(reader);
        }
        loop {
            let Some(leaf) = &mut self.leaf else { return Ok(None) };
            if let Some(block) = leaf.next_entry(reader)? {
                return Ok(Some(block));
            }
            self.next_leaf(reader)?;
        }
    }

    /// Skips entries of the current index block, all but its last one at most, and returns how many.
    pub(crate) fn skip(&mut self, entries: u32) -> u32 {
        let page = if self.two_levels { self.leaf.as_mut() } else { Some(&mut self.top) };
        let Some(page) = page else { return 0 };
        let behind = page.trailer.intervals().saturating_sub(page.next).saturating_sub(1);
        let skipped = entries.min(behind);
        page.next += skipped;
        skipped
    }

    /// Positions after the last block that may contain a key below `end`, for [`Self::block_before`].
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn seek_end(reader: &TableReader, end: Option<&[u8]>) -> StoreResult<Self> {
        let mut cursor = Self::new(reader, Caching::Fill)?;
        cursor.top.seek_end(reader, end)?;
        if cursor.two_levels && cursor.leaf_before(reader)? {
            cursor.leaf.iter_mut().try_for_each(|leaf| leaf.seek_end(reader, end))?;
        }
        Ok(cursor)
    }

    /// The previous block; `None` before the first.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn block_before(&mut self, reader: &TableReader) -> StoreResult<Option<BlockRef>> {
        if !self.two_levels {
            return self.top.entry_before(reader);
        }
        loop {
            let Some(leaf) = &mut self.leaf else { return Ok(None) };
            if let Some(block) = leaf.entry_before(reader)? {
                return Ok(Some(block));
            }
            if self.leaf_before(reader)? {
                self.leaf.iter_mut().try_for_each(|leaf| leaf.seek_end(reader, None))?;
            }
        }
    }

    /// As [`IndexCursor::seek`], but iterates over the top level only, whose entries may be index blocks.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn seek_top(reader: &TableReader, key: &[u8]) -> StoreResult<Self> {
        let mut cursor = Self { two_levels: false, ..Self::new(reader, Caching::Fill)? };
        cursor.top.seek(reader, key)?;
        Ok(cursor)
    }

    /// Number of entries in the top level.
    pub(crate) fn top_entries(&self) -> u32 {
        self.top.trailer.items
    }

    /// The number of top-level entries before `key`, and of all top-level entries.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn position(reader: &TableReader, key: &[u8]) -> StoreResult<(u32, u32)> {
        let mut top = Page::top(reader, Caching::Fill)?;
        top.seek(reader, key)?;
        Ok((top.next, top.trailer.items))
    }

    fn next_leaf(&mut self, reader: &TableReader) -> StoreResult<bool> {
        let at = self.top.next_entry(reader)?;
        self.load_leaf(reader, at)
    }

    fn leaf_before(&mut self, reader: &TableReader) -> StoreResult<bool> {
        let at = self.top.entry_before(reader)?;
        self.load_leaf(reader, at)
    }

    fn load_leaf(&mut self, reader: &TableReader, at: Option<BlockRef>) -> StoreResult<bool> {
        self.leaf = match at {
            Some(at) => Some(Page::load(reader, BlockHandle::new(BlockOffset(at.offset), at.size), self.caching)?),
            None => None,
        };
        Ok(self.leaf.is_some())
    }
}

impl Page {
    /// Reads the top level of the table's index.
    fn top(reader: &TableReader, caching: Caching) -> StoreResult<Self> {
        let handle = reader.table.regions.tli;
        if caching == Caching::Bypass {
            return Self::load(reader, handle, caching);
        }
        if let Some((bytes, trailer)) = reader.top.0.get() {
            return Ok(Self { bytes: bytes.clone(), trailer: *trailer, offset: *handle.offset(), next: 0 });
        }
        let page = Self::load(reader, handle, caching)?;
        // Another reader may have set the same bytes first.
        drop(reader.top.0.set((page.bytes.clone(), page.trailer)));
        Ok(page)
    }

    pub(super) fn load(reader: &TableReader, handle: BlockHandle, caching: Caching) -> StoreResult<Self> {
        let compression = reader.table.metadata.index_block_compression;
        let offset = *handle.offset();
        let bytes = reader.load(handle, BlockType::Index, compression, caching)?;
        let trailer = Trailer::of(&bytes).map_err(|damage| reader.damaged(offset, damage))?;
        Ok(Self { bytes, trailer, offset, next: 0 })
    }

    pub(super) fn seek(&mut self, reader: &TableReader, key: &[u8]) -> StoreResult<()> {
        // Keys mostly ascend, so the search starts at the last block.
        let found = format::seek_index(&self.bytes, &self.trailer, self.next.saturating_sub(1), key);
        self.next = found.map_err(|damage| reader.damaged(self.offset, damage))?;
        Ok(())
    }

    /// Positions after the first entry whose end key is not below `end`, or after the last entry.
    fn seek_end(&mut self, reader: &TableReader, end: Option<&[u8]>) -> StoreResult<()> {
        let entries = self.trailer.intervals();
        self.next = entries;
        if let Some(end) = end {
            self.seek(reader, end)?;
            self.next = self.next.saturating_add(1).min(entries);
        }
        Ok(())
    }

    fn entry_before(&mut self, reader: &TableReader) -> StoreResult<Option<BlockRef>> {
        let Some(before) = self.next.checked_sub(1) else { return Ok(None) };
        self.next = before;
        let found = self.next_entry(reader);
        self.next = before;
        found
    }

    pub(super) fn next_entry(&mut self, reader: &TableReader) -> StoreResult<Option<BlockRef>> {
        let found = format::index_entry(&self.bytes, &self.trailer, self.next);
        let found = found.map_err(|damage| reader.damaged(self.offset, damage))?;
        let Some(IndexEntry { offset, size, end_key, end_key_at }) = found else { return Ok(None) };
        self.next += 1;
        let end_key = end_key_at..end_key_at + end_key.len();
        Ok(Some(BlockRef { offset, size, page: self.bytes.clone(), end_key }))
    }
}
