//! Predicates that a store can check on bytes, without knowing types.

use bytes::Bytes;

/// A conjunction of predicates on fixed-width columns of dense fragments of one layout.
///
/// Fixed-width columns are kept in an order-preserving encoding, so a comparison is one of bytes at
/// an offset. A row whose fragment is not dense or not of [`Filter::layout`] cannot be judged: it is
/// returned, and its batch is marked [`crate::RowBatch::undecided`] so that the caller checks again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// The fragment layout that the offsets are for.
    pub layout: u16,
    /// All must hold.
    pub predicates: Vec<FixedPredicate>,
    /// All must hold.
    pub nulls: Vec<NullTest>,
}

/// `lo <= bytes[offset .. offset + width] <= hi`, and the column is not NULL.
#[derive(Clone, Debug, PartialEq)]
pub struct FixedPredicate {
    /// Where the column begins in the fragment.
    pub offset: u32,
    /// 1, 2, 4, 8 or 16 bytes: also the length of `lo` and `hi`.
    pub width: u8,
    /// Where the column's NULL bit is.
    pub null_bit: NullBit,
    /// Smallest value that passes.
    pub lo: Bytes,
    /// Largest value that passes.
    pub hi: Bytes,
}

/// The place of a NULL bit: set means NULL.
pub type NullBit = (u32, u8);

/// `IS NULL` or `IS NOT NULL` of one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NullTest {
    /// Byte offset in the fragment and mask of the column's NULL bit.
    pub null_bit: NullBit,
    /// Does the test ask for NULL?
    pub is_null: bool,
}

impl Filter {
    /// Does every row pass?
    pub fn is_empty(&self) -> bool {
        self.predicates.is_empty() && self.nulls.is_empty()
    }
}
