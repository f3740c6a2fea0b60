//! Ranges of rowkeys converted to ranges of the keyspace's keys.

use super::source::MAX_STORED_KEY;
use bytes::Bytes;
use std::ops::Bound;
use store::KeyRange;

/// `start <= key < end` of stored keys; an `end` of `None` is the end of the keyspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredRange {
    /// Inclusive.
    pub(crate) start: Vec<u8>,
    /// Exclusive.
    pub(crate) end: Option<Vec<u8>>,
}

impl StoredRange {
    /// Prepends `prefix` to `range`; an open end becomes the end of the prefix. `None` if no stored key can be in the
    /// range.
    pub(crate) fn new(prefix: &Bytes, range: &KeyRange) -> Option<Self> {
        let behind = |key: &Bytes| bounded([prefix.as_ref(), key.as_ref()].concat());
        let end = match &range.end {
            Some(end) => behind(end),
            None => KeyRange::prefix(prefix.clone()).end.map(Vec::from),
        };
        let start = behind(&range.start)?;
        end.as_ref().is_none_or(|end| start < *end).then_some(Self { start, end })
    }

    /// Converts the range to the bounds of fjall's API.
    pub(crate) fn bounds(&self) -> (Bound<&[u8]>, Bound<&[u8]>) {
        let end = self.end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        (Bound::Included(&self.start), end)
    }

    /// Returns true if some key from `min` to `max` may be in the range.
    pub(crate) fn overlaps(&self, min: &[u8], max: &[u8]) -> bool {
        max >= self.start.as_slice() && !self.is_past(min)
    }

    /// Returns true if all keys from `min` to `max` are in the range.
    pub(crate) fn covers(&self, min: &[u8], max: &[u8]) -> bool {
        min >= self.start.as_slice() && !self.is_past(max)
    }

    /// Returns true if the range contains `key`.
    pub(crate) fn contains(&self, key: &[u8]) -> bool {
        key >= self.start.as_slice() && !self.is_past(key)
    }

    /// Returns true if `key` is at or after the end.
    pub(crate) fn is_past(&self, key: &[u8]) -> bool {
        self.end.as_deref().is_some_and(|end| key >= end)
    }
}

/// Replaces a bound longer than any stored key, at which fjall would panic, by the next key after those that share its
/// first bytes. `None` if there is no such key.
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
