//! Estimates the number of distinct values of the first key column.
//!
//! ```text
//!   piece   7,1 7,2 7,3 | 8,1 | 9,1 9,2      two of five rows have another value than the row before them
//! ```
//! Rows with the same value are adjacent, so the fraction of rows that begin a new value is the same in any piece of
//! the table. An estimator for independently drawn rows would assume that the table has no values other than those of
//! the pieces.

use rowkey::KeySchema;

/// With fewer changes of the value the estimate is too inaccurate.
const FEWEST_CHANGES: u64 = 20;

/// Counts changes of the value.
#[derive(Debug)]
pub(super) struct LeadingValues {
    schema: KeySchema,
    last: Option<Vec<u8>>,
    slots: Vec<(usize, usize)>,
    compared: u64,
    changed: u64,
}

impl LeadingValues {
    pub(super) fn new(schema: KeySchema) -> Self {
        Self { schema, last: None, slots: Vec::new(), compared: 0, changed: 0 }
    }

    /// Begins a piece: the next row does not follow the previous one in the table.
    pub(super) fn begin_piece(&mut self) {
        self.last = None;
    }

    /// Counts the key of the next row. Keys that cannot be split are ignored; other code reports them.
    pub(super) fn meet(&mut self, key: &[u8]) {
        // A salted table spreads rows with the same value over its buckets.
        if self.schema.salt_width() > 0 {
            return;
        }
        let slot = match self.schema.fixed_slot(0) {
            Some((start, width)) => Some((start, start + width)),
            None => self.schema.split(key, &mut self.slots).ok().and_then(|()| self.slots.first().copied()),
        };
        let Some(value) = slot.and_then(|(start, end)| key.get(start..end)) else { return };
        match &mut self.last {
            Some(last) => {
                self.compared += 1;
                if last != value {
                    self.changed += 1;
                    last.clear();
                    last.extend_from_slice(value);
                }
            }
            None => self.last = Some(value.to_vec()),
        }
    }

    /// Estimated number of values in `rows` rows; `None`: there were too few changes.
    pub(super) fn values_of(&self, rows: f64) -> Option<f64> {
        (self.changed >= FEWEST_CHANGES).then(|| rows * self.changed as f64 / self.compared as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rowkey::KeyPart;
    use types::DataType;

    fn met(schema: KeySchema, pieces: &[std::ops::Range<u64>], each: u64) -> LeadingValues {
        let mut values = LeadingValues::new(schema);
        for piece in pieces {
            values.begin_piece();
            piece.clone().for_each(|row| values.meet(&[(row / each).to_be_bytes(), row.to_be_bytes()].concat()));
        }
        values
    }

    fn schema() -> KeySchema {
        let part = || KeyPart::ascending(DataType::BigInt);
        KeySchema::new(vec![part(), part()])
    }

    #[test]
    fn stretches_tell_how_many_values_all_rows_have() {
        // Pieces begin anywhere in the run of a value.
        let stretches: Vec<_> = (0..50).map(|piece| piece * 10_001..piece * 10_001 + 60).collect();
        let found = met(schema(), &stretches, 4).values_of(500_000.0).unwrap_or_default();
        assert!((found - 125_000.0).abs() < 6_000.0, "{found}");
        let unique = met(schema(), &stretches, 1).values_of(500_000.0);
        assert_eq!(unique, Some(500_000.0));
    }

    #[test]
    fn few_changes_tell_nothing() {
        assert_eq!(met(schema(), std::slice::from_ref(&(0..1_000)), 100).values_of(1e6), None);
    }
}
