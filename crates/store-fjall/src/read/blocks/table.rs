//! Reads the blocks of one table, through the block cache or bypassing it.

use super::format::{self, Malformed, Trailer};
use super::index::{BlockRef, Page, TopIndex};
use super::view::Files;
use crate::error::storage;
use fjall::{CompressionType, Slice};
use lsm_tree::table::block::BlockType;
use lsm_tree::table::filter::standard_bloom::StandardBloomFilterReader;
use lsm_tree::table::{Block, BlockHandle, BlockOffset};
use lsm_tree::{DescriptorTable, GlobalTableId, Table};
use std::fs::File;
use std::sync::{Arc, OnceLock};
use store::{StoreError, StoreResult};

/// One table of a tree.
pub(crate) struct TableReader {
    pub(crate) table: Table,
    id: GlobalTableId,
    descriptors: Option<Arc<DescriptorTable>>,
    /// Opened for the first block that is not in the cache.
    file: OnceLock<Arc<File>>,
    pub(super) top: TopIndex,
}

/// A data block: entries in key order, uncompressed.
#[derive(Clone, Debug)]
pub(crate) struct DataBlock {
    pub(crate) bytes: Slice,
    pub(crate) trailer: Trailer,
}

/// How a block read uses the block cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caching {
    /// Reads from the cache, then from disk; fills the cache.
    Fill,
    /// Reads from the cache, then from disk; does not fill the cache.
    Look,
    /// Reads from disk, to verify the file.
    Bypass,
}

impl DataBlock {
    /// Reads the first byte of each interval to load it into the CPU cache. The result has no meaning.
    pub(super) fn touch_intervals(&self) -> u8 {
        self.trailer.heads(&self.bytes).fold(0, |sum, head| sum ^ head)
    }
}

impl TableReader {
    /// The reader of `table`, a table of the tree of `files`.
    pub(crate) fn new(files: &Files, table: Table, top: TopIndex) -> Self {
        let id = (files.tree_id, table.id()).into();
        Self { table, id, descriptors: files.descriptors.clone(), file: OnceLock::new(), top }
    }

    /// Returns true if both read the same table.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.table.id() == other.table.id()
    }

    /// Reads a data block.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn data_block(&self, at: &BlockRef, caching: Caching) -> StoreResult<DataBlock> {
        let compression = self.table.metadata.data_block_compression;
        let handle = BlockHandle::new(BlockOffset(at.offset), at.size);
        let bytes = self.load(handle, BlockType::Data, compression, caching)?;
        self.open(at, bytes)
    }

    /// Returns a data block if it is in the cache.
    ///
    /// # Errors
    /// Damaged bytes.
    pub(crate) fn cached_block(&self, at: &BlockRef) -> StoreResult<Option<DataBlock>> {
        let found = self.table.cache.get_block(self.id, BlockOffset(at.offset));
        found.map(|block| self.open(at, block.data)).transpose()
    }

    fn open(&self, at: &BlockRef, bytes: Slice) -> StoreResult<DataBlock> {
        let trailer = Trailer::of(&bytes).map_err(|damage| self.damaged(at.offset, damage))?;
        Ok(DataBlock { bytes, trailer })
    }

    /// Returns true if the table has as many keys as entries.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn has_one_version_per_key(&self) -> StoreResult<bool> {
        Ok(self.meta_number(b"key_count")? == Some(self.table.metadata.item_count))
    }

    /// Asks the table's filter whether it may contain `key`. Returns true without a filter.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn may_hold(&self, key: &[u8], hash: u64) -> StoreResult<bool> {
        let failed = |error: lsm_tree::Error| storage(format!("filter of {}", self.table.path.display()))(&error);
        if let Some(filter) = &self.table.pinned_filter_block {
            return filter.maybe_contains_hash(hash).map_err(failed);
        }
        let handle = match self.table.regions.filter_tli {
            // Partitioned filter: one part per key range.
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

    /// Reads a number of the meta block that lsm-tree does not expose.
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

    pub(super) fn load(
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
        if caching == Caching::Fill {
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

    /// Describes the block at `offset`, for messages.
    pub(crate) fn place(&self, offset: u64) -> String {
        format!("block at {offset} of {}", self.table.path.display())
    }
}
