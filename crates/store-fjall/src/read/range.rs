//! Ranges of rowkeys as ranges of the keys that the keyspace keeps.

use super::source::MAX_STORED_KEY;
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
    /// `range` behind `prefix`: an open end ends where the prefix does. `None` when no stored key can be inside.
    pub(crate) fn new(prefix: &Bytes, range: &KeyRange) -> Option<Self> {
        let behind = |key: &Bytes| bounded([prefix.as_ref(), key.as_ref()].concat());
        let end = match &range.end {
            Some(end) => behind(end),
            None => KeyRange::prefix(prefix.clone()).end.map(Vec::from),
        };
        let start = behind(&range.start)?;
        end.as_ref().is_none_or(|end| start < *end).then_some(Self { start, end })
    }

    /// As the bounds that fjall takes.
    pub(crate) fn bounds(&self) -> (Bound<&[u8]>, Bound<&[u8]>) {
        let end = self.end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        (Bound::Included(&self.start), end)
    }

    /// May keys from `min` to `max` be inside?
    pub(crate) fn overlaps(&self, min: &[u8], max: &[u8]) -> bool {
        max >= self.start.as_slice() && !self.is_past(min)
    }

    /// Are all keys from `min` to `max` inside?
    pub(crate) fn covers(&self, min: &[u8], max: &[u8]) -> bool {
        min >= self.start.as_slice() && !self.is_past(max)
    }

    /// Is `key` inside?
    pub(crate) fn contains(&self, key: &[u8]) -> bool {
        key >= self.start.as_slice() && !self.is_past(key)
    }

    /// Is `key` behind the end?
    pub(crate) fn is_past(&self, key: &[u8]) -> bool {
        self.end.as_deref().is_some_and(|end| key >= end)
    }
}

/// The same border among keys that can be stored: fjall panics at a longer one. Keys beyond it come after
/// those that begin like it; `None` when there are none.
fn bounded(mut key: Vec<u8>) -> Option<Vec<u8>> {
    if key.len() <= MAX_STORED_KEY {
        return Some(key);
    }
    key.truncate(MAX_STORED_KEY);
    KeyRange::prefix(key).end.map(Vec::from)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn an_open_end_stays_within_the_slot() {
        let slot = Bytes::from_static(&[0, 0, 1, 0xFF]);
        let range = StoredRange::new(&slot, &KeyRange::all()).unwrap();
        assert_eq!(range.start, [0, 0, 1, 0xFF]);
        assert_eq!(range.end, Some(vec![0, 0, 2]));
        assert!(range.is_past(&[0, 0, 2, 0]) && !range.is_past(&[0, 0, 1, 0xFF, 0xFF]));
    }

    #[test]
    fn without_a_prefix_an_open_end_stays_open() {
        let range = StoredRange::new(&Bytes::new(), &KeyRange::all()).unwrap();
        assert_eq!(range, StoredRange { start: Vec::new(), end: None });
    }

    #[test]
    fn borders_longer_than_any_key_become_borders_that_can_be_stored() {
        let long = |byte: u8| Bytes::from(vec![byte; MAX_STORED_KEY + 1]);
        let range = KeyRange { start: long(1), end: Some(long(2)) };
        let stored = StoredRange::new(&Bytes::new(), &range).unwrap();
        assert!(stored.start.as_slice() > &long(1)[..MAX_STORED_KEY] && !stored.is_past(&long(2)[..MAX_STORED_KEY]));
        assert!(stored.start.len() <= MAX_STORED_KEY && stored.is_past(&[3]));
        assert_eq!(StoredRange::new(&Bytes::new(), &KeyRange { start: long(0xFF), end: None }), None);
    }
}
