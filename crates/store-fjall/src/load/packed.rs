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
    pub(super) template: Arc<Template>,
}

/// What packed rows have in common, and how their keys differ.
pub(super) struct Template {
    pub(super) family: FamilyId,
    pub(super) fragment: Box<[u8]>,
    pub(super) packing: Packing,
}

/// One row at a time.
pub(super) struct Unpacked {
    template: Arc<Template>,
    /// With zeros up to a whole word.
    key: Vec<u8>,
}

impl Unpacked {
    pub(super) fn new(template: Arc<Template>) -> Self {
        Self { key: template.packing.padded_key(0), template }
    }

    /// Bytes of a number.
    pub(super) fn width(&self) -> usize {
        self.template.packing.width()
    }

    /// The present row is the one with this number, of so many bytes.
    pub(super) fn set(&mut self, number: &[u8]) {
        let number = number.iter().fold(0, |number, byte| number << u8::BITS | u128::from(*byte));
        self.template.packing.unpack(number, &mut self.key);
    }

    /// The present row.
    pub(super) fn row(&self) -> Row<'_> {
        let key = self.key.get(..self.template.packing.key_len()).unwrap_or_default();
        Row { family: self.template.family, key, fragment: &self.template.fragment }
    }

    /// The number that another packing makes of its key.
    pub(super) fn pack(&self, packing: &Packing) -> u128 {
        packing.pack(&self.key)
    }
}
