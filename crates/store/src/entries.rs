//! Index tables, whose rows (entries) are derived from the rows of a base table. The layer above defines the
//! derivation; the store sees bytes only.

use crate::{StoreResult, TableId};
use bytes::Bytes;
use std::fmt::Debug;

/// Derives index entries from base rows: a pure function.
pub trait EntryRows: Send + Sync + Debug {
    /// The base table.
    fn rows(&self) -> TableId;

    /// The rowkey of the base row of an entry, decoded from the entry's key alone.
    ///
    /// # Errors
    /// [`crate::StoreError::Corrupted`] if the bytes are not the key of an entry.
    fn rowkey(&self, entry: &[u8]) -> StoreResult<Bytes>;

    /// Key and fragment of the entry of a row; `None` if the row has no entry.
    ///
    /// # Errors
    /// [`crate::StoreError::Corrupted`] if the row cannot be decoded.
    fn entry(&self, rowkey: &[u8], fragment: &[u8]) -> StoreResult<Option<(Bytes, Bytes)>>;

    /// Length of the key prefix of an entry that is unique in the index. `None`: the key has no such prefix, or only
    /// the whole key is unique.
    ///
    /// # Errors
    /// [`crate::StoreError::Corrupted`] if the bytes are not the key of an entry.
    fn unique_prefix(&self, entry: &[u8]) -> StoreResult<Option<usize>>;
}
