//! Which orders the key gives.

use super::KeyTest;
use bind::tree::{ColId, Key};
use rowkey::KeySchema;

/// In which order a scan's rows come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Any.
    Any,
    /// The key's, from its first row on.
    Key,
    /// The key's, from its last row on.
    Reverse,
}

/// Beyond this many salt buckets their merge is dearer than a sort: the least of them is found by looking at all.
const MAX_MERGED: u16 = 64;

/// The direction in which rows come as `wanted` asks; `None`: the key does not give that order.
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

/// Are the rows in that order when the key is read in that direction? Parts with one value are in any order.
fn gives(schema: &KeySchema, key: &[Option<ColId>], tests: &[KeyTest], wanted: &[Key], reverse: bool) -> bool {
    let one_value = |part: usize| tests.iter().any(|test| test.gives_one_value(part));
    let mut parts = key.iter().zip(&schema.parts).enumerate().filter(|(part, _)| !one_value(*part));
    wanted.iter().all(|by| {
        let own = key.iter().position(|col| *col == Some(by.col));
        if own.is_some_and(one_value) {
            return true;
        }
        let Some((_, (col, part))) = parts.next() else {
            // Behind the whole key there is nothing left to be sorted.
            return true;
        };
        *col == Some(by.col)
            && by.desc == (part.descending != reverse)
            && (!part.nullable || by.nulls_first == (part.nulls_first != reverse))
    })
}
