//! Reading the blocks of one table, through the block cache or past it.

use super::format::{self, IndexEntry, Malformed, Trailer};
use super::view::Files;
use crate::error::storage;
use fjall::{CompressionType, Slice};
use lsm_tree::table::block::BlockType;
use lsm_tree::table::filter::standard_bloom::StandardBloomFilterReader;
use lsm_tree::table::{Block, BlockHandle, BlockOffset};
use lsm_tree::{DescriptorTable, GlobalTableId, Table};
use std::fs::File;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use store::{StoreError, StoreResult};

/// One table of a tree.
pub(crate) struct TableReader {
    pub(crate) table: Table,
    id: GlobalTableId,
    descriptors: Option<Arc<DescriptorTable>>,
    /// Opened at the first block that is not in the cache.
    file: OnceLock<Arc<File>>,
}

/// Entries in key order, uncompressed.
#[derive(Clone, Debug)]
pub(crate) struct DataBlock {
    pub(crate) bytes: Slice,
    pub(crate) trailer: Trailer,
}

/// Where a data block is, and the last key in it.
#[derive(Clone, Debug)]
pub(crate) struct BlockRef {
    pub(crate) offset: u64,
    pub(crate) size: u32,
    /// The index block that says so.
    page: Slice,
    end_key: Range<usize>,
}

impl BlockRef {
    /// The last key of the block.
    pub(crate) fn end_key(&self) -> &[u8] {
        self.page.get(self.end_key.clone()).unwrap_or_default()
    }
}

/// Where a block is looked for, and whether it stays in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caching {
    /// In the cache, then on disk; kept in the cache.
    Fill,
    /// In the cache, then on disk; of 2^32 blocks so many are kept, always the same ones. A scan that
    /// fills the cache with more than it holds would displace what points need, and find nothing of
    /// its own the next time.
    Share(u32),
    /// On disk: to see what is really there.
    Bypass,
}

impl Caching {
    fn keeps(self, offset: u64) -> bool {
        match self {
            Self::Fill => true,
            // The upper half of a product with an odd constant: spread evenly, and the same in every scan.
            Self::Share(share) => (offset.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) < u64::from(share),
            Self::Bypass => false,
        }
    }
}

impl TableReader {
    /// For `table` of the tree of `files`.
    pub(crate) fn new(files: &Files, table: Table) -> Self {
        let id = (files.tree_id, table.id()).into();
        Self { table, id, descriptors: files.descriptors.clone(), file: OnceLock::new() }
    }

    /// Reads a data block.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn data_block(&self, at: &BlockRef, caching: Caching) -> StoreResult<DataBlock> {
        let compression = self.table.metadata.data_block_compression;
        let handle = BlockHandle::new(BlockOffset(at.offset), at.size);
        let bytes = self.load(handle, BlockType::Data, compression, caching)?;
        let trailer = Trailer::of(&bytes).map_err(|damage| self.damaged(at.offset, damage))?;
        Ok(DataBlock { bytes, trailer })
    }

    /// Are there as many keys in it as entries?
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn has_one_version_per_key(&self) -> StoreResult<bool> {
        Ok(self.meta_number(b"key_count")? == Some(self.table.metadata.item_count))
    }

    /// May a key with this hash be in it? Its filter says so, if it has one.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn may_hold(&self, key: &[u8], hash: u64) -> StoreResult<bool> {
        let failed = |error: lsm_tree::Error| storage(format!("filter of {}", self.table.path.display()))(&error);
        if let Some(filter) = &self.table.pinned_filter_block {
            return filter.maybe_contains_hash(hash).map_err(failed);
        }
        let handle = match self.table.regions.filter_tli {
            // In parts, each for a stretch of keys.
            Some(parts) => {
                let mut parts = Page::load(self, parts, Caching::Fill)?;
                parts.seek(self, key)?;
                parts.next_entry(self)?.map(|at| BlockHandle::new(BlockOffset(at.offset), at.size))
            }
            None => self.table.regions.filter,
        };
        let Some(handle) = handle else { return Ok(true) };
        let bytes = self.load(handle, BlockType::Filter, CompressionType::None, Caching::Fill)?;
        StandardBloomFilterReader::new(&bytes).map(|filter| filter.contains_hash(hash)).map_err(failed)
    }

    /// A number that the meta block has and lsm-tree does not hand out.
    fn meta_number(&self, name: &[u8]) -> StoreResult<Option<u64>> {
        let handle = self.table.regions.metadata;
        let bytes = self.load(handle, BlockType::Meta, CompressionType::None, Caching::Fill)?;
        let damaged = |damage| self.damaged(*handle.offset(), damage);
        let trailer = Trailer::of(&bytes).map_err(damaged)?;
        let mut entries = format::Entries::seek(&bytes, &trailer, name).map_err(damaged)?;
        while let Some(entry) = entries.next_entry().map_err(damaged)? {
            if format::compare_key(entry.head, entry.rest, name).is_eq() {
                let number = entry.value.try_into().map_err(|_| damaged(Malformed))?;
                return Ok(Some(u64::from_le_bytes(number)));
            }
        }
        Ok(None)
    }

    fn load(
        &self,
        handle: BlockHandle,
        kind: BlockType,
        compression: CompressionType,
        caching: Caching,
    ) -> StoreResult<Slice> {
        let offset = handle.offset();
        if caching != Caching::Bypass
            && let Some(block) = self.table.cache.get_block(self.id, offset)
        {
            return Ok(block.data);
        }
        let failed = |error: lsm_tree::Error| storage(self.place(*offset))(&error);
        let block = Block::from_file(self.file()?, handle, compression).map_err(failed)?;
        if block.header.block_type != kind {
            return Err(self.damaged(*offset, Malformed));
        }
        if caching.keeps(*offset) {
            self.table.cache.insert_block(self.id, offset, block.clone());
        }
        Ok(block.data)
    }

    fn file(&self) -> StoreResult<&File> {
        if let Some(file) = self.file.get() {
            return Ok(file);
        }
        let open = self.descriptors.as_ref().and_then(|files| files.access_for_table(&self.id));
        let file = match open {
            Some(file) => file,
            None => {
                let path = &*self.table.path;
                let file = File::open(path).map_err(crate::error::io(format!("opening {}", path.display())))?;
                let file = Arc::new(file);
                if let Some(files) = &self.descriptors {
                    files.insert_for_table(self.id, file.clone());
                }
                file
            }
        };
        Ok(self.file.get_or_init(|| file))
    }

    /// The error for bytes at `offset` that are not a block.
    pub(crate) fn damaged(&self, offset: u64, _: Malformed) -> StoreError {
        StoreError::Corrupted { detail: format!("{}: malformed", self.place(offset)) }
    }

    /// The block at `offset`, for messages.
    pub(crate) fn place(&self, offset: u64) -> String {
        format!("block at {offset} of {}", self.table.path.display())
    }
}

/// Walks the index of a table: its data blocks in key order.
pub(crate) struct IndexCursor {
    caching: Caching,
    /// The top level. Points to leaves, or, in small tables, to the data blocks.
    top: Page,
    two_levels: bool,
    leaf: Option<Page>,
}

/// An index block, and the next entry to be read from it.
struct Page {
    bytes: Slice,
    trailer: Trailer,
    offset: u64,
    next: u32,
}

impl IndexCursor {
    /// At the first block that may hold a key of at least `key`.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn seek(reader: &TableReader, key: &[u8], caching: Caching) -> StoreResult<Self> {
        let regions = &reader.table.regions;
        let mut top = Page::load(reader, regions.tli, caching)?;
        top.seek(reader, key)?;
        let mut cursor = Self { caching, top, two_levels: regions.index.is_some(), leaf: None };
        if cursor.two_levels && cursor.next_leaf(reader)? {
            cursor.leaf.iter_mut().try_for_each(|leaf| leaf.seek(reader, key))?;
        }
        Ok(cursor)
    }

    /// The next data block; `None` behind the last.
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

    /// Behind the last block that may hold a key below `end`: [`Self::block_before`] goes back from there.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn seek_end(reader: &TableReader, end: Option<&[u8]>) -> StoreResult<Self> {
        let regions = &reader.table.regions;
        let mut top = Page::load(reader, regions.tli, Caching::Fill)?;
        top.seek_end(reader, end)?;
        let mut cursor = Self { caching: Caching::Fill, top, two_levels: regions.index.is_some(), leaf: None };
        if cursor.two_levels && cursor.leaf_before(reader)? {
            cursor.leaf.iter_mut().try_for_each(|leaf| leaf.seek_end(reader, end))?;
        }
        Ok(cursor)
    }

    /// The block before; `None` in front of the first.
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

    /// As [`IndexCursor::seek`], but stays on the top level: its entries, which may be index blocks, come one by one.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn seek_top(reader: &TableReader, key: &[u8]) -> StoreResult<Self> {
        let mut top = Page::load(reader, reader.table.regions.tli, Caching::Fill)?;
        top.seek(reader, key)?;
        Ok(Self { caching: Caching::Fill, top, two_levels: false, leaf: None })
    }

    /// Entries of the top level.
    pub(crate) fn top_entries(&self) -> u32 {
        self.top.trailer.items
    }

    /// How many entries of the top level are in front of `key`, and how many there are.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn position(reader: &TableReader, key: &[u8]) -> StoreResult<(u32, u32)> {
        let mut top = Page::load(reader, reader.table.regions.tli, Caching::Fill)?;
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
    fn load(reader: &TableReader, handle: BlockHandle, caching: Caching) -> StoreResult<Self> {
        let compression = reader.table.metadata.index_block_compression;
        let offset = *handle.offset();
        let bytes = reader.load(handle, BlockType::Index, compression, caching)?;
        let trailer = Trailer::of(&bytes).map_err(|damage| reader.damaged(offset, damage))?;
        Ok(Self { bytes, trailer, offset, next: 0 })
    }

    fn seek(&mut self, reader: &TableReader, key: &[u8]) -> StoreResult<()> {
        let found = format::seek_index(&self.bytes, &self.trailer, key);
        self.next = found.map_err(|damage| reader.damaged(self.offset, damage))?;
        Ok(())
    }

    /// Behind the first entry whose keys reach `end`, or behind all.
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

    fn next_entry(&mut self, reader: &TableReader) -> StoreResult<Option<BlockRef>> {
        let found = format::index_entry(&self.bytes, &self.trailer, self.next);
        let found = found.map_err(|damage| reader.damaged(self.offset, damage))?;
        let Some(IndexEntry { offset, size, end_key, end_key_at }) = found else { return Ok(None) };
        self.next += 1;
        let end_key = end_key_at..end_key_at + end_key.len();
        Ok(Some(BlockRef { offset, size, page: self.bytes.clone(), end_key }))
    }
}
