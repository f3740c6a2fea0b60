//! Encoded rows on their way out, with the places where they end: each row is a message of its own.

use bytes::{Bytes, BytesMut};
use std::ops::Deref;

/// Whole rows, many at a time. As bytes it is all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CopyBlock {
    bytes: Bytes,
    /// Where each row ends.
    ends: Vec<usize>,
}

impl CopyBlock {
    pub(super) fn new(bytes: Bytes, ends: Vec<usize>) -> Self {
        Self { bytes, ends }
    }

    /// One row.
    pub(super) fn single(bytes: Bytes) -> Self {
        let ends = vec![bytes.len()];
        Self { bytes, ends }
    }

    /// The same with `head` as a part of its first row.
    pub(super) fn behind(self, head: &[u8]) -> Self {
        let mut bytes = BytesMut::with_capacity(head.len() + self.bytes.len());
        bytes.extend_from_slice(head);
        bytes.extend_from_slice(&self.bytes);
        Self { bytes: bytes.freeze(), ends: self.ends.iter().map(|end| end + head.len()).collect() }
    }

    /// Row by row.
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
