//! Loading many rows at once.

use crate::{CommitNo, FamilyId, StoreResult};
use async_trait::async_trait;

/// What a load does with a key that the table has already, or that comes twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDuplicate {
    /// The load fails with [`crate::StoreError::DuplicateKey`] and leaves no trace.
    Fail,
    /// The last row wins.
    Replace,
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

    /// The bytes of all rows back to back, and for each row where its key and its fragment end.
    pub fn into_parts(self) -> (Vec<u8>, Vec<(u32, u32)>) {
        (self.bytes, self.ends)
    }
}

/// A load under way: rows in any order, invisible until [`BulkLoad::finish`]. Dropping it undoes it.
#[async_trait]
pub trait BulkLoad: Send {
    /// Adds one row. Keys in ascending order are cheapest.
    ///
    /// # Errors
    /// [`crate::StoreError::TooLarge`], or an I/O failure of the runs that do not fit in memory.
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

    /// Makes all rows durable and visible as one commit.
    ///
    /// # Errors
    /// [`crate::StoreError::DuplicateKey`] by [`OnDuplicate::Fail`]; [`crate::StoreError::TableChanged`] when others wrote
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
