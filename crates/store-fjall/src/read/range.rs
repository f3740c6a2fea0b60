//! Ranges of rowkeys as ranges of the keys that the keyspace keeps.

use bytes::Bytes;
use std::ops::Bound;
use store::KeyRange;

/// `start <= key < end` of stored keys; an `end` of `None` is the end of the keyspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredRange {
    /// First key that is inside.
    pub(crate) start: Vec<u8>,
    /// First key that is outside again.
    pub(crate) end: Option<Vec<u8>>,
}

impl StoredRange {
    /// `range` behind `prefix`: an open end ends where the prefix does.
    pub(crate) fn new(prefix: &Bytes, range: &KeyRange) -> Self {
        let behind = |key: &Bytes| [prefix.as_ref(), key.as_ref()].concat();
        let end = match &range.end {
            Some(end) => Some(behind(end)),
            None => KeyRange::prefix(prefix.clone()).end.map(Vec::from),
        };
        Self { start: behind(&range.start), end }
    }

    /// As the bounds that fjall takes.
    pub(crate) fn bounds(&self) -> (Bound<&[u8]>, Bound<&[u8]>) {
        let end = self.end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        (Bound::Included(&self.start), end)
    }

    /// Is `key` behind the end?
    pub(crate) fn is_past(&self, key: &[u8]) -> bool {
        self.end.as_deref().is_some_and(|end| key >= end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_end_stays_within_the_slot() {
        let slot = Bytes::from_static(&[0, 0, 1, 0xFF]);
        let range = StoredRange::new(&slot, &KeyRange::all());
        assert_eq!(range.start, [0, 0, 1, 0xFF]);
        assert_eq!(range.end, Some(vec![0, 0, 2]));
        assert!(range.is_past(&[0, 0, 2, 0]) && !range.is_past(&[0, 0, 1, 0xFF, 0xFF]));
    }

    #[test]
    fn without_a_prefix_an_open_end_stays_open() {
        let range = StoredRange::new(&Bytes::new(), &KeyRange::all());
        assert_eq!(range, StoredRange { start: Vec::new(), end: None });
    }
}
