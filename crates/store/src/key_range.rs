//! Half-open ranges of rowkeys.

use bytes::Bytes;

/// `start <= key < end`; an `end` of `None` is the end of the table.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyRange {
    /// Inclusive.
    pub start: Bytes,
    /// Exclusive.
    pub end: Option<Bytes>,
}

impl KeyRange {
    /// Every key.
    pub fn all() -> Self {
        Self { start: Bytes::new(), end: None }
    }

    /// The one key `key`.
    pub fn point(key: impl Into<Bytes>) -> Self {
        let start = key.into();
        let mut end = Vec::with_capacity(start.len() + 1);
        end.extend_from_slice(&start);
        end.push(0);
        Self { start, end: Some(end.into()) }
    }

    /// Every key that begins with `prefix`.
    pub fn prefix(prefix: impl Into<Bytes>) -> Self {
        let start = prefix.into();
        let end = successor_of_prefix(&start);
        Self { start, end }
    }

    /// Returns true if the range contains `key`.
    pub fn contains(&self, key: &[u8]) -> bool {
        self.start.as_ref() <= key && self.end.as_ref().is_none_or(|end| key < end.as_ref())
    }

    /// Returns true if the range contains no key.
    pub fn is_empty(&self) -> bool {
        self.end.as_ref().is_some_and(|end| end <= &self.start)
    }

    /// Returns the key if the range contains exactly one possible key.
    pub fn as_point(&self) -> Option<&[u8]> {
        let end = self.end.as_ref()?;
        match end.strip_prefix(self.start.as_ref()) {
            Some([0]) => Some(&self.start),
            _ => None,
        }
    }

    /// The intersection of both ranges; `None` if it is empty.
    pub fn intersect(&self, other: &KeyRange) -> Option<KeyRange> {
        let start = self.start.clone().max(other.start.clone());
        let end = match (&self.end, &other.end) {
            (Some(a), Some(b)) => Some(a.min(b).clone()),
            (end, None) | (None, end) => end.clone(),
        };
        let range = KeyRange { start, end };
        (!range.is_empty()).then_some(range)
    }
}

/// The smallest key above all keys that begin with `prefix`: increments the last byte below `FF` and drops the rest.
fn successor_of_prefix(prefix: &[u8]) -> Option<Bytes> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if last < 0xFF {
            end.push(last + 1);
            return Some(end.into());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_of_ff_bytes_has_no_end() {
        assert_eq!(KeyRange::prefix(vec![1, 0xFF]).end, Some(Bytes::from_static(&[2])));
        assert_eq!(KeyRange::prefix(vec![0xFF, 0xFF]).end, None);
    }

    #[test]
    fn a_point_holds_its_key_alone() {
        let range = KeyRange::point(vec![7]);
        assert!(range.contains(&[7]) && !range.contains(&[7, 0]) && !range.contains(&[6, 0xFF]));
        assert_eq!(range.as_point(), Some([7].as_slice()));
        assert_eq!(KeyRange::prefix(vec![7]).as_point(), None);
    }

    #[test]
    fn ranges_that_only_touch_share_nothing() {
        let left = KeyRange { start: Bytes::new(), end: Some(Bytes::from_static(b"m")) };
        let right = KeyRange { start: Bytes::from_static(b"m"), end: None };
        assert_eq!(left.intersect(&right), None);
        assert_eq!(left.intersect(&KeyRange::all()), Some(left.clone()));
    }
}
