//! ORDER BY, where the key gives it.

use super::conditions::KeyCondition;
use crate::dml::Target;
use bind::tree::Key;

/// What the rows are to be sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Nothing.
    Any,
    /// The key, from its first row on.
    Key,
    /// The key, from its last row on.
    Reverse,
}

impl Order {
    /// The direction in which the key is read; `None`: the key does not give the order of these columns.
    pub(super) fn of_keys(target: &Target, wanted: &[(usize, &Key)], conditions: &[KeyCondition]) -> Option<Self> {
        if wanted.is_empty() {
            return Some(Self::Any);
        }
        let gives = |reverse| key_gives(target, wanted, conditions, reverse);
        match (gives(false), gives(true)) {
            (true, _) => Some(Self::Key),
            (false, true) => Some(Self::Reverse),
            (false, false) => None,
        }
    }
}

/// Are the rows in that order when the key is read in that direction? Parts with one value are in any order.
fn key_gives(target: &Target, wanted: &[(usize, &Key)], conditions: &[KeyCondition], reverse: bool) -> bool {
    let fixed = |part: usize| conditions.iter().any(|condition| condition.part == part && condition.is_equality());
    let key = target.codec.key_columns();
    let mut parts = key.iter().zip(&target.codec.key_schema().parts).enumerate().filter(|(part, _)| !fixed(*part));
    wanted.iter().all(|(at, by)| {
        let own = key.iter().position(|column| column == at);
        if own.is_some_and(fixed) {
            return true;
        }
        let Some((_, (column, part))) = parts.next() else {
            // Behind the whole key there is nothing left to be sorted.
            return true;
        };
        column == at
            && by.desc == (part.descending != reverse)
            && (!part.nullable || by.nulls_first == (part.nulls_first != reverse))
    })
}
