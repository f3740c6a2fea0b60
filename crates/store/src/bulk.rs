//! Loading many rows at once.

use crate::{CommitNo, FamilyId, StoreError, StoreResult, TableId};
use async_trait::async_trait;
use std::fmt;
use std::sync::Arc;

/// What a load does with a key that the table has already, or that comes twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDuplicate {
    /// The load fails with [`crate::StoreError::DuplicateKey`] and leaves no trace.
    Fail,
    /// The last row wins.
    Replace,
}

/// How many bytes at the front of a key no other key of its table may begin with; `None`: the key is only itself.
///
/// # Errors
/// [`StoreError::Corrupted`] for bytes that are no key of the table.
pub type UniquePrefix = Arc<dyn Fn(&[u8]) -> StoreResult<Option<usize>> + Send + Sync>;

/// Another table that a load brings rows of.
#[derive(Clone)]
pub struct LoadTable {
    /// The table.
    pub table: TableId,
    /// What a key means that is there already, or comes twice.
    pub on_duplicate: OnDuplicate,
    /// Two keys with one unique prefix, loaded or stored, fail the load with [`StoreError::DuplicateKey`], which names one of
    /// them. Keys that are there may be replaced all the same.
    pub unique: Option<UniquePrefix>,
}

impl fmt::Debug for LoadTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unique = if self.unique.is_some() { ", unique" } else { "" };
        write!(f, "LoadTable({}, {:?}{unique})", self.table, self.on_duplicate)
    }
}

/// Rows on their way into a load: one buffer of bytes, and where each key and fragment ends in it. Made
/// where rows are encoded, and handed on whole.
#[derive(Clone, Debug, Default)]
pub struct LoadRows {
    bytes: Vec<u8>,
    ends: Vec<(u32, u32)>,
}

impl LoadRows {
    /// An empty one with room for so many bytes.
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

    /// Takes what was pushed, and leaves an empty one.
    #[must_use]
    pub fn take(&mut self) -> Self {
        std::mem::take(self)
    }

    /// How many rows.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Has it none?
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Bytes of keys and fragments.
    pub fn byte_len(&self) -> usize {
        self.bytes.len()
    }

    /// Keys and fragments in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut start = 0;
        self.ends.iter().map(move |&(key_end, end)| {
            let key = self.bytes.get(start..key_end as usize).unwrap_or_default();
            start = end as usize;
            (key, self.bytes.get(key_end as usize..end as usize).unwrap_or_default())
        })
    }

    /// The bytes of all rows back to back.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// For each row where its key and its fragment end in them.
    pub fn ends(&self) -> &[(u32, u32)] {
        &self.ends
    }

    /// The bytes of all rows back to back, and for each row where its key and its fragment end.
    pub fn into_parts(self) -> (Vec<u8>, Vec<(u32, u32)>) {
        (self.bytes, self.ends)
    }
}

/// Where a load gets the memory of its buffers from.
pub trait LoadMemory: fmt::Debug + Send + Sync {
    /// Holds so many bytes from now on, instead of what it held. False: there are not so many, and it holds what it held.
    fn hold(&self, bytes: usize) -> bool;
}

/// A load under way: rows in any order, invisible until [`BulkLoad::finish`]. Dropping it undoes it. It brings rows of the table
/// that it was begun for, and of those that [`BulkLoad::add_table`] named, all of them as one commit.
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

    /// Lets it bring rows of another table, too: entries of an index beside their rows. The caller keeps other writers off it.
    ///
    /// # Errors
    /// [`StoreError::NoSuchTable`]; [`StoreError::Unsupported`] for loads that are no step of their own anyway.
    fn add_table(&mut self, _table: LoadTable) -> StoreResult<()> {
        Err(StoreError::Unsupported { what: "a load into several tables" })
    }

    /// Asks for the memory of its buffers there from now on, before it has rows. With less its buffers are smaller; with next to
    /// none it fails with [`StoreError::NoMemory`]. Loads that keep no more than a batch in memory do not ask.
    fn hold_memory(&mut self, _memory: Arc<dyn LoadMemory>) {}

    /// As [`BulkLoad::write_rows`], into one of its tables.
    ///
    /// # Errors
    /// As [`BulkLoad::write`]; [`StoreError::NoSuchTable`] for a table that is none of them.
    async fn write_rows_of(&mut self, table: TableId, _family: FamilyId, _rows: LoadRows) -> StoreResult<()> {
        Err(StoreError::NoSuchTable { table })
    }

    /// Makes all rows durable and visible as one commit.
    ///
    /// # Errors
    /// [`crate::StoreError::DuplicateKey`] by [`OnDuplicate::Fail`] and [`LoadTable::unique`]; [`crate::StoreError::TableChanged`] when others wrote
    /// to the table meanwhile and the store cannot merge what they wrote. After any error nothing was loaded.
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
