//! Encoded rows of COPY TO with their end offsets, because each row is a CopyData message of its own.

use bytes::{Bytes, BytesMut};
use std::ops::Deref;

/// A block of whole encoded rows. Dereferences to the bytes of all rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CopyBlock {
    bytes: Bytes,
    /// The end offset of each row.
    ends: Vec<usize>,
}

impl CopyBlock {
    pub(super) fn new(bytes: Bytes, ends: Vec<usize>) -> Self {
        Self { bytes, ends }
    }

    /// A block of one row.
    pub(super) fn single(bytes: Bytes) -> Self {
        let ends = vec![bytes.len()];
        Self { bytes, ends }
    }

    /// Prepends `head` to the first row.
    pub(super) fn behind(self, head: &[u8]) -> Self {
        let mut bytes = BytesMut::with_capacity(head.len() + self.bytes.len());
        bytes.extend_from_slice(head);
        bytes.extend_from_slice(&self.bytes);
        Self { bytes: bytes.freeze(), ends: self.ends.iter().map(|end| end + head.len()).collect() }
    }

    /// The bytes of each row.
    pub fn rows(&self) -> impl Iterator<Item = Bytes> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| self.bytes.slice(start..*end))
    }
}

impl Deref for CopyBlock {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}
