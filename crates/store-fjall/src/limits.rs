//! Limits of keys and rows, and key ranges cut to them.

use bytes::Bytes;
use store::{KeyRange, StoreError, StoreResult};

/// Longest rowkey: fjall's limit of 65,535 minus room for a slot and for the bounds of ranges.
pub(crate) const MAX_KEY_BYTES: usize = 65_500;
/// Longest fragment. A batch holds several copies of each fragment in memory.
pub(crate) const MAX_FRAGMENT_BYTES: usize = 256 << 20;

/// # Errors
/// [`StoreError::TooLarge`].
pub(crate) fn check_key(key: &[u8]) -> StoreResult<()> {
    check_size("rowkey", key.len(), MAX_KEY_BYTES)
}

/// fjall does not support empty keys. In the shared keyspace the slot precedes the rowkey.
///
/// # Errors
/// [`StoreError::Unsupported`].
pub(crate) fn check_own_key(key: &[u8]) -> StoreResult<()> {
    if key.is_empty() {
        return Err(StoreError::Unsupported { what: "an empty rowkey in a table that was bulk-loaded" });
    }
    Ok(())
}

/// # Errors
/// [`StoreError::TooLarge`].
pub(crate) fn check_fragment(fragment: &[u8]) -> StoreResult<()> {
    check_size("row", fragment.len(), MAX_FRAGMENT_BYTES)
}

fn check_size(what: &'static str, bytes: usize, limit: usize) -> StoreResult<()> {
    if bytes > limit {
        return Err(StoreError::TooLarge { what, bytes, limit });
    }
    Ok(())
}

/// Returns true if a row may have this key.
pub(crate) fn is_possible_key(key: &[u8]) -> bool {
    key.len() <= MAX_KEY_BYTES
}

/// Shortens the bounds of ranges without changing the rows in them: fjall panics on keys beyond its limit.
pub(crate) fn within_limits(ranges: &mut Vec<KeyRange>) {
    let is_long = |range: &KeyRange| {
        !is_possible_end(&range.start) || range.end.as_ref().is_some_and(|end| !is_possible_end(end))
    };
    if !ranges.iter().any(is_long) {
        return;
    }
    for range in ranges.iter_mut() {
        shorten(&mut range.start);
        range.end.iter_mut().for_each(shorten);
    }
    ranges.retain(|range| !range.is_empty());
}

fn is_possible_end(end: &[u8]) -> bool {
    end.len() <= MAX_KEY_BYTES + 1
}

/// No row lies between the longest possible key that `end` begins with and `end`, so `end` may move down to the
/// immediate successor of that key.
fn shorten(end: &mut Bytes) {
    if let (false, Some(head)) = (is_possible_end(end), end.get(..MAX_KEY_BYTES)) {
        *end = [head, &[0]].concat().into();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn ends_beyond_the_limit_keep_their_place_among_possible_keys() {
        let longest = vec![7; MAX_KEY_BYTES];
        let beyond = [longest.as_slice(), &[9; 100]].concat();
        let mut ranges = vec![
            KeyRange { start: Bytes::new(), end: Some(beyond.clone().into()) },
            KeyRange { start: beyond.clone().into(), end: None },
            KeyRange { start: beyond.clone().into(), end: Some([beyond.as_slice(), &[1]].concat().into()) },
        ];
        within_limits(&mut ranges);
        assert_eq!(ranges.len(), 2);
        assert!(ranges[0].contains(&longest) && !ranges[1].contains(&longest));
        assert!(ranges[1].contains(&[8]) && !ranges[0].contains(&[8]));
    }
}
