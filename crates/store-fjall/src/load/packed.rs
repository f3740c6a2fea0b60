//! Sorted rows as numbers: entries of an index without included columns, which have one fragment, and keys of one length.

use super::packing::{Differences, Packing};
use super::rows::Row;
use std::sync::Arc;
use store::FamilyId;

/// The rows.
pub(super) struct PackedRows {
    /// In their order.
    pub(super) numbers: Vec<u128>,
    pub(super) differences: Differences,
    pub(super) made: Arc<Made>,
}

/// What the rows are made of beside their numbers.
pub(super) struct Made {
    pub(super) family: FamilyId,
    pub(super) fragment: Box<[u8]>,
    pub(super) packing: Packing,
}

/// One row at a time.
pub(super) struct Unpacked {
    made: Arc<Made>,
    /// With zeros up to a whole word.
    key: Vec<u8>,
}

impl Unpacked {
    pub(super) fn new(made: Arc<Made>) -> Self {
        Self { key: made.packing.padded_key(0), made }
    }

    /// Bytes of a number.
    pub(super) fn width(&self) -> usize {
        self.made.packing.width()
    }

    /// The present row is the one with this number, of so many bytes.
    pub(super) fn set(&mut self, number: &[u8]) {
        let number = number.iter().fold(0, |number, byte| number << u8::BITS | u128::from(*byte));
        self.made.packing.unpack(number, &mut self.key);
    }

    /// The present row.
    pub(super) fn row(&self) -> Row<'_> {
        let key = self.key.get(..self.made.packing.key_len()).unwrap_or_default();
        Row { family: self.made.family, key, fragment: &self.made.fragment }
    }

    /// The number that another packing makes of its key.
    pub(super) fn pack(&self, packing: &Packing) -> u128 {
        packing.pack(&self.key)
    }
}
