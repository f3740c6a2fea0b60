//! Predicates that a store can check on bytes, without knowing types.

use bytes::Bytes;

/// A conjunction of predicates on fixed-width columns of dense fragments of one layout.
///
/// Fixed-width columns have an order-preserving encoding, so a comparison compares the bytes at an offset. A row whose
/// fragment is not dense or not of [`Filter::layout`] cannot be evaluated: it is returned, and its batch is marked
/// [`crate::RowBatch::undecided`] so that the caller evaluates the predicates again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// The fragment layout that the offsets apply to.
    pub layout: u16,
    /// Comparisons, all of which must hold.
    pub predicates: Vec<FixedPredicate>,
    /// NULL tests, all of which must hold.
    pub nulls: Vec<NullTest>,
}

/// `lo <= bytes[offset .. offset + width] <= hi`, and the column is not NULL.
#[derive(Clone, Debug, PartialEq)]
pub struct FixedPredicate {
    /// Where the column begins in the fragment.
    pub offset: u32,
    /// 1, 2, 4, 8 or 16 bytes; also the length of `lo` and `hi`.
    pub width: u8,
    /// The column's NULL bit.
    pub null_bit: NullBit,
    /// Lower bound, inclusive.
    pub lo: Bytes,
    /// Upper bound, inclusive.
    pub hi: Bytes,
}

/// Byte offset and mask of a NULL bit in the fragment; a set bit means NULL.
pub type NullBit = (u32, u8);

/// `IS NULL` or `IS NOT NULL` of one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NullTest {
    /// The column's NULL bit.
    pub null_bit: NullBit,
    /// True for `IS NULL`, false for `IS NOT NULL`.
    pub is_null: bool,
}

impl Filter {
    /// Returns true if the filter has no predicate, so that every row passes.
    pub fn is_empty(&self) -> bool {
        self.predicates.is_empty() && self.nulls.is_empty()
    }
}
