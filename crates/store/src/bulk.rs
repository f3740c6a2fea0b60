//! Bulk loads.

use crate::{CommitNo, FamilyId, StoreError, StoreResult, TableId};
use async_trait::async_trait;
use std::fmt;
use std::sync::Arc;

/// What a load does with a duplicate key, in the load or in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDuplicate {
    /// The load fails with [`crate::StoreError::DuplicateKey`] and writes nothing.
    Fail,
    /// The last row wins.
    Replace,
}

/// Returns the length of the key prefix that must be unique in the table; `None` if only the whole key is unique.
///
/// # Errors
/// [`StoreError::Corrupted`] if the bytes are not a key of the table.
pub type UniquePrefix = Arc<dyn Fn(&[u8]) -> StoreResult<Option<usize>> + Send + Sync>;

/// A further table that a load writes to, for example an index of the loaded table.
#[derive(Clone)]
pub struct LoadTable {
    /// The table.
    pub table: TableId,
    /// How a duplicate whole key is treated.
    pub on_duplicate: OnDuplicate,
    /// Two different keys with the same unique prefix, loaded or stored, fail the load with
    /// [`StoreError::DuplicateKey`], which names one of them. A key that is stored already may still be replaced.
    pub unique: Option<UniquePrefix>,
}

impl fmt::Debug for LoadTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unique = if self.unique.is_some() { ", unique" } else { "" };
        write!(f, "LoadTable({}, {:?}{unique})", self.table, self.on_duplicate)
    }
}

/// Rows on their way into a load: one buffer, and the offsets where each key and fragment ends in it. Built where rows
/// are encoded and passed on without copying.
#[derive(Clone, Debug, Default)]
pub struct LoadRows {
    bytes: Vec<u8>,
    ends: Vec<(u32, u32)>,
}

impl LoadRows {
    /// An empty value with capacity for `bytes` bytes.
    pub fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), ends: Vec::new() }
    }

    /// Adds a row. The caller keeps [`Self::byte_len`] below 4 GiB.
    pub fn push(&mut self, key: &[u8], fragment: &[u8]) {
        self.bytes.extend_from_slice(key);
        let key_end = self.bytes.len() as u32;
        self.bytes.extend_from_slice(fragment);
        self.ends.push((key_end, self.bytes.len() as u32));
    }

    /// Returns the pushed rows and leaves `self` empty.
    #[must_use]
    pub fn take(&mut self) -> Self {
        std::mem::take(self)
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Total length of keys and fragments.
    pub fn byte_len(&self) -> usize {
        self.bytes.len()
    }

    /// Keys and fragments, in the order in which they were pushed.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut start = 0;
        self.ends.iter().map(move |&(key_end, end)| {
            let key = self.bytes.get(start..key_end as usize).unwrap_or_default();
            start = end as usize;
            (key, self.bytes.get(key_end as usize..end as usize).unwrap_or_default())
        })
    }

    /// The concatenated bytes of all rows.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// For each row, the end offsets of its key and its fragment in [`Self::bytes`].
    pub fn ends(&self) -> &[(u32, u32)] {
        &self.ends
    }

    /// The concatenated bytes of all rows, and for each row the end offsets of its key and its fragment.
    pub fn into_parts(self) -> (Vec<u8>, Vec<(u32, u32)>) {
        (self.bytes, self.ends)
    }
}

/// Accounts for the memory of a load's buffers.
pub trait LoadMemory: fmt::Debug + Send + Sync {
    /// Changes the reservation to `bytes`. Returns false and keeps the old reservation if that exceeds the limit.
    fn hold(&self, bytes: usize) -> bool;
}

/// A running load: accepts rows in any order, invisible until [`BulkLoad::finish`]. Dropping it discards the rows.
/// Loads rows into the table that it was begun for and into those added with [`BulkLoad::add_table`], all in one
/// commit.
#[async_trait]
pub trait BulkLoad: Send {
    /// Adds one row. Keys in ascending order are cheapest.
    ///
    /// # Errors
    /// [`crate::StoreError::TooLarge`], an I/O failure of the runs that do not fit in memory, or [`StoreError::NoMemory`].
    async fn write(&mut self, family: FamilyId, key: &[u8], fragment: &[u8]) -> StoreResult<()>;

    /// Adds many rows, in their order.
    ///
    /// # Errors
    /// As [`BulkLoad::write`].
    async fn write_rows(&mut self, family: FamilyId, rows: LoadRows) -> StoreResult<()> {
        for (key, fragment) in rows.iter() {
            self.write(family, key, fragment).await?;
        }
        Ok(())
    }

    /// Adds a table that the load may write to, such as an index of the loaded table. The caller keeps other writers
    /// off it.
    ///
    /// # Errors
    /// [`StoreError::NoSuchTable`]; [`StoreError::Unsupported`] if the load is not atomic.
    fn add_table(&mut self, _table: LoadTable) -> StoreResult<()> {
        Err(StoreError::Unsupported { what: "a load into several tables" })
    }

    /// Sets where the load reserves the memory of its buffers; called before the first row. A small limit leads to
    /// smaller buffers, a very small one to [`StoreError::NoMemory`]. Loads that hold at most one batch in memory
    /// ignore it.
    fn hold_memory(&mut self, _memory: Arc<dyn LoadMemory>) {}

    /// As [`BulkLoad::write_rows`], into one of the load's tables.
    ///
    /// # Errors
    /// As [`BulkLoad::write`]; [`StoreError::NoSuchTable`] for a table that was not added.
    async fn write_rows_of(&mut self, table: TableId, _family: FamilyId, _rows: LoadRows) -> StoreResult<()> {
        Err(StoreError::NoSuchTable { table })
    }

    /// Makes all rows durable and visible as one commit.
    ///
    /// # Errors
    /// [`crate::StoreError::DuplicateKey`] by [`OnDuplicate::Fail`] and [`LoadTable::unique`];
    /// [`crate::StoreError::TableChanged`] when others wrote to the table meanwhile and the store cannot merge their
    /// rows. After any error nothing was loaded.
    async fn finish(self: Box<Self>) -> StoreResult<CommitNo>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_as_they_were_pushed() {
        let mut rows = LoadRows::default();
        for (key, fragment) in [("a", "one"), ("", "two"), ("ccc", "")] {
            rows.push(key.as_bytes(), fragment.as_bytes());
        }
        let back: Vec<_> = rows.iter().collect();
        assert_eq!(back, [(b"a".as_slice(), b"one".as_slice()), (b"", b"two"), (b"ccc", b"")]);
        assert_eq!((rows.len(), rows.byte_len()), (3, 10));
    }
}
