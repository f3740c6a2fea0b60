//! Sorted rows packed into numbers: for index entries without included columns, which all have the same fragment and
//! keys of one length.

use super::packing::{Differences, Packing};
use super::rows::Row;
use std::sync::Arc;
use store::FamilyId;

/// The packed rows.
pub(super) struct PackedRows {
    /// The packed keys in order.
    pub(super) numbers: Vec<u128>,
    pub(super) differences: Differences,
    pub(super) template: Arc<Template>,
}

/// The common properties of packed rows: family, fragment, and packing of the keys.
pub(super) struct Template {
    pub(super) family: FamilyId,
    pub(super) fragment: Box<[u8]>,
    pub(super) packing: Packing,
}

/// An unpacker for one row at a time.
pub(super) struct Unpacked {
    template: Arc<Template>,
    /// The key, padded with zeros to a whole word.
    key: Vec<u8>,
}

impl Unpacked {
    pub(super) fn new(template: Arc<Template>) -> Self {
        Self { key: template.packing.padded_key(0), template }
    }

    /// Bytes per number.
    pub(super) fn width(&self) -> usize {
        self.template.packing.width()
    }

    /// Unpacks the row with this big-endian number.
    pub(super) fn set(&mut self, number: &[u8]) {
        let number = number.iter().fold(0, |number, byte| number << u8::BITS | u128::from(*byte));
        self.template.packing.unpack(number, &mut self.key);
    }

    /// The current row.
    pub(super) fn row(&self) -> Row<'_> {
        let key = self.key.get(..self.template.packing.key_len()).unwrap_or_default();
        Row { family: self.template.family, key, fragment: &self.template.fragment }
    }

    /// Packs the current key with another packing.
    pub(super) fn pack(&self, packing: &Packing) -> u128 {
        packing.pack(&self.key)
    }
}
