//! A filter of key prefixes that a transaction has not written. Its writes may be in many files, and searching a prefix
//! would read a block of each.

use super::bloom::Bloom;
use store::TableId;

/// Capacity of the first filter. Each further filter has [`GROWTH`] times the capacity of the previous one.
const FIRST: usize = 1024;
const GROWTH: usize = 4;

/// Bloom filters with ten bits per prefix. Prefixes are never removed, so undone writes cause false positives.
#[derive(Debug, Default)]
pub(crate) struct Prefixes {
    filters: Vec<Bloom>,
    /// Capacity of the last filter, and the number of keys that still fit.
    keys: usize,
    room: usize,
}

impl Prefixes {
    pub(crate) fn add(&mut self, table: TableId, prefix: &[u8]) {
        if self.room == 0 {
            self.keys = if self.keys == 0 { FIRST } else { self.keys * GROWTH };
            self.room = self.keys;
            self.filters.push(Bloom::for_keys(self.keys));
        }
        if let Some(last) = self.filters.last_mut() {
            last.add(&named(table, prefix));
        }
        self.room -= 1;
    }

    pub(crate) fn may_have(&self, table: TableId, prefix: &[u8]) -> bool {
        if self.filters.is_empty() {
            return false;
        }
        let named = named(table, prefix);
        self.filters.iter().any(|filter| filter.may_have(&named))
    }
}

fn named(table: TableId, prefix: &[u8]) -> Vec<u8> {
    [&table.0.to_be_bytes(), prefix].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_is_perhaps_there_and_most_else_is_not() {
        let (mut prefixes, count) = (Prefixes::default(), 20_000_u32);
        (0..count).for_each(|key| prefixes.add(TableId(7), &key.to_be_bytes()));
        assert!((0..count).all(|key| prefixes.may_have(TableId(7), &key.to_be_bytes())));
        let wrong = (0..count).filter(|key| prefixes.may_have(TableId(8), &key.to_be_bytes())).count();
        assert!(wrong < 1_000, "{wrong} of {count}");
        assert!(!Prefixes::default().may_have(TableId(7), b""));
    }
}
