//! ORDER BY, where the key order satisfies it.

use super::conditions::KeyCondition;
use crate::dml::Target;
use bind::tree::Key;

/// The required order of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Any order.
    Any,
    /// Key order.
    Key,
    /// Reverse key order.
    Reverse,
}

impl Order {
    /// The direction in which the key is read; `None`: the key order does not satisfy ORDER BY.
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

/// Whether reading the key in this direction gives the wanted order. Key parts with one value match any order.
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
            // Rows are unique by the whole key, so further sort keys have no effect.
            return true;
        };
        column == at
            && by.desc == (part.descending != reverse)
            && (!part.nullable || by.nulls_first == (part.nulls_first != reverse))
    })
}
