//! Input and output types of the range algebra.

use types::{CompareOp, Datum};

/// A predicate over key parts (given by index). A list of conditions is a conjunction.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// A conjunction.
    And(Vec<Condition>),
    /// A disjunction.
    Or(Vec<Condition>),
    /// `part op value`. A NULL value matches nothing.
    Compare {
        /// The part.
        part: usize,
        /// The operator.
        op: CompareOp,
        /// The value, of the part's type or a comparable one (any integer type with any other, numeric with integers,
        /// double with real).
        value: Datum,
    },
    /// `part IN (values)`. NULLs in the list match nothing.
    In {
        /// The part.
        part: usize,
        /// The list.
        values: Vec<Datum>,
    },
    /// `part IS [NOT] NULL`.
    IsNull {
        /// The part.
        part: usize,
        /// IS NOT NULL.
        negated: bool,
    },
    /// `part LIKE 'prefix%'`, of a text part.
    Prefix {
        /// The part.
        part: usize,
        /// The prefix, with wildcards and escapes resolved.
        prefix: String,
    },
    /// `(parts) op (values)`, compared from left to right.
    RowCompare {
        /// The parts, in any order.
        parts: Vec<usize>,
        /// The operator.
        op: CompareOp,
        /// One value per part.
        values: Vec<Datum>,
    },
    /// `(parts) IN ((values), ...)`.
    RowIn {
        /// The parts.
        parts: Vec<usize>,
        /// Rows with one value per part.
        rows: Vec<Vec<Datum>>,
    },
    /// A predicate that ranges cannot express: it must be checked on each row.
    Unknown,
    /// True for no row.
    False,
}

/// Limits on the number of ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeLimits {
    /// Maximum number of ranges over all salt buckets; above it, ranges are widened.
    pub max_ranges: usize,
    /// Maximum number of ranges if they are no more than the values, rows or intervals listed in one condition, that
    /// is, if lists are not multiplied.
    pub max_listed: usize,
}

impl RangeLimits {
    /// The same limit for both.
    pub const fn of(max_ranges: usize) -> Self {
        Self { max_ranges, max_listed: max_ranges }
    }
}

impl Default for RangeLimits {
    fn default() -> Self {
        Self { max_ranges: 10_000, max_listed: 65_536 }
    }
}

/// `start <= key < end`, salt byte included; an `end` of `None` is the end of the table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteRange {
    /// The first key inside.
    pub start: Vec<u8>,
    /// The first key after the range.
    pub end: Option<Vec<u8>>,
}

impl ByteRange {
    /// Every key.
    pub fn all() -> Self {
        Self { start: Vec::new(), end: None }
    }

    /// Whether `key` is inside.
    pub fn contains(&self, key: &[u8]) -> bool {
        self.start.as_slice() <= key && self.end.as_deref().is_none_or(|end| key < end)
    }

    /// The key, if the range has exactly one key.
    pub fn as_point(&self) -> Option<&[u8]> {
        match self.end.as_ref()?.strip_prefix(self.start.as_slice()) {
            Some([0]) => Some(&self.start),
            _ => None,
        }
    }

    /// The keys inside both; `None` if empty.
    pub fn intersect(&self, other: &ByteRange) -> Option<ByteRange> {
        let start = (&self.start).max(&other.start);
        let end = match (&self.end, &other.end) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (end, None) | (None, end) => end.as_ref(),
        };
        let inside = end.is_none_or(|end| end > start);
        inside.then(|| ByteRange { start: start.clone(), end: end.cloned() })
    }
}

/// How the ranges access the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// No row can satisfy the conditions; there are no ranges.
    Empty,
    /// This number of full keys, one range each.
    Points(usize),
    /// One range of keys (in each salt bucket).
    Range,
    /// Several ranges of keys, with seeks from one to the next.
    SkipScan,
    /// The whole table.
    Full,
}

/// The result of [`super::key_ranges`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRanges {
    /// Sorted, disjoint and merged, except that points stay separate for point reads.
    pub ranges: Vec<ByteRange>,
    /// For each condition, whether every row in the ranges satisfies it.
    pub exact: Vec<bool>,
    /// How the ranges access the rows.
    pub access: Access,
    /// The number of leading parts that the ranges restrict.
    pub parts_used: usize,
    /// The number of leading parts with the same single value in all ranges: rows in key order are also ordered by the
    /// next parts.
    pub equal_parts: usize,
    /// Salt buckets that the ranges touch, ascending; `None` without salt.
    pub buckets: Option<Vec<u8>>,
}

impl KeyRanges {
    /// The ranges inside one salt bucket, for scans that merge buckets in key order.
    pub fn in_bucket(&self, bucket: u8) -> Vec<ByteRange> {
        let whole = ByteRange { start: vec![bucket], end: bucket.checked_add(1).map(|next| vec![next]) };
        let salt = |key: &[u8]| key.first().copied().unwrap_or_default();
        let touches = |range: &&ByteRange| {
            salt(&range.start) <= bucket && range.end.as_deref().is_none_or(|end| salt(end) >= bucket)
        };
        self.ranges.iter().filter(touches).filter_map(|range| range.intersect(&whole)).collect()
    }

    /// Whether `key` is in one of the ranges.
    pub fn contains(&self, key: &[u8]) -> bool {
        let after = self.ranges.partition_point(|range| range.start.as_slice() <= key);
        let last = after.checked_sub(1).and_then(|index| self.ranges.get(index));
        last.is_some_and(|range| range.contains(key))
    }
}
