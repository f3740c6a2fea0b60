//! The orders that a key gives.

use super::KeyTest;
use bind::tree::{ColId, Key};
use rowkey::KeySchema;

/// The order of a scan's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Unspecified.
    Any,
    /// Key order.
    Key,
    /// Reverse key order.
    Reverse,
}

/// With more salt buckets a sort is cheaper than a merge, which compares all buckets for each row.
const MAX_MERGED: u16 = 64;

/// The direction that gives the `wanted` order; `None` if the key does not give it.
pub(crate) fn direction(
    schema: &KeySchema,
    key: &[Option<ColId>],
    tests: &[KeyTest],
    wanted: &[Key],
) -> Option<Direction> {
    if wanted.is_empty() {
        return Some(Direction::Any);
    }
    if schema.salt_buckets.is_some_and(|buckets| buckets > MAX_MERGED) {
        return None;
    }
    if gives(schema, key, tests, wanted, false) {
        return Some(Direction::Key);
    }
    gives(schema, key, tests, wanted, true).then_some(Direction::Reverse)
}

/// Does reading the key in that direction give the order? Parts with one value are skipped.
fn gives(schema: &KeySchema, key: &[Option<ColId>], tests: &[KeyTest], wanted: &[Key], reverse: bool) -> bool {
    let one_value = |part: usize| tests.iter().any(|test| test.gives_one_value(part));
    let mut parts = key.iter().zip(&schema.parts).enumerate().filter(|(part, _)| !one_value(*part));
    wanted.iter().all(|by| {
        let own = key.iter().position(|col| *col == Some(by.col));
        if own.is_some_and(one_value) {
            return true;
        }
        let Some((_, (col, part))) = parts.next() else {
            // Rows that are equal in the whole key need no further sort keys.
            return true;
        };
        *col == Some(by.col)
            && by.desc == (part.descending != reverse)
            && (!part.nullable || by.nulls_first == (part.nulls_first != reverse))
    })
}
