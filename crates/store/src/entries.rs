//! Tables whose rows are derived from the rows of another one, as the layer above tells it: bytes in, bytes out.

use crate::{StoreResult, TableId};
use bytes::Bytes;
use std::fmt::Debug;

/// What rows of one table, entries, are made of rows of another one: a pure function.
pub trait EntryRows: Send + Sync + Debug {
    /// The table that entries are made of.
    fn rows(&self) -> TableId;

    /// The key of the row that an entry is of. The entry's key alone tells it.
    ///
    /// # Errors
    /// [`crate::StoreError::Corrupted`] for bytes that are no key of an entry.
    fn rowkey(&self, entry: &[u8]) -> StoreResult<Bytes>;

    /// Key and fragment of the entry of a row; `None`: it has none.
    ///
    /// # Errors
    /// [`crate::StoreError::Corrupted`] for a row from which none can be made.
    fn entry(&self, rowkey: &[u8], fragment: &[u8]) -> StoreResult<Option<(Bytes, Bytes)>>;

    /// First bytes of the entry's key that no entry of another row may begin with. `None`: others may, or the bytes are the
    /// whole key.
    ///
    /// # Errors
    /// [`crate::StoreError::Corrupted`] for bytes that are no key of an entry.
    fn unique_prefix(&self, entry: &[u8]) -> StoreResult<Option<usize>>;
}
