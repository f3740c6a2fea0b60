//! The position of a backfill.

use serde::{Deserialize, Serialize};
use store::{Bytes, KeyRange};

/// The progress of a backfill from certain row storage to certain entry storage.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Position {
    /// The storage of the rows.
    pub(super) rows: u32,
    /// The storage of the entries.
    pub(super) entries: u32,
    /// Key ranges that are not processed yet, in key order.
    pub(super) left: Vec<Left>,
    /// REINDEX: whether the index has its new entries.
    pub(super) swapped: bool,
}

/// A range of keys, which are in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Left {
    from: String,
    to: Option<String>,
}

impl Left {
    pub(super) fn of(range: &KeyRange) -> Self {
        Self { from: hex(&range.start), to: range.end.as_deref().map(hex) }
    }

    /// `None` for text that is not from [`Self::of`].
    pub(super) fn range(&self) -> Option<KeyRange> {
        let end = match &self.to {
            Some(to) => Some(bytes(to)?),
            None => None,
        };
        Some(KeyRange { start: bytes(&self.from)?, end })
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hex: &str) -> Option<Bytes> {
    let digits: Vec<u8> = hex.bytes().collect();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.chunks(2).map(pair).collect::<Option<Vec<u8>>>().map(Bytes::from)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_range_comes_back_as_it_was() {
        for range in [KeyRange::all(), KeyRange::point(vec![0, 255, 16]), KeyRange::prefix(vec![7])] {
            assert_eq!(Left::of(&range).range().unwrap(), range);
        }
        assert_eq!(Left { from: "0g".to_string(), to: None }.range(), None);
    }
}
