//! Evaluates a [`Filter`] on a fragment: the reference for every store's scan.
//!
//! This is the plain implementation; stores with a hot loop compile the filter, and are tested against it.

use crate::header::{DENSE, FORMAT, WIDE};
use store::{Filter, FixedPredicate, NullBit};

/// The result of a filter for one fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All predicates hold.
    Pass,
    /// Some predicate does not hold.
    Fail,
    /// Not a dense fragment of the filter's layout, or too short: the caller decodes the row and decides.
    Undecided,
}

/// Evaluates `filter` on `fragment`.
pub fn matches(filter: &Filter, fragment: &[u8]) -> Verdict {
    match fragment {
        &[FORMAT, flags, l0, l1, ..] if flags & !WIDE == DENSE && u16::from_be_bytes([l0, l1]) == filter.layout => {}
        _ => return Verdict::Undecided,
    }
    let ranges = filter.predicates.iter().map(|predicate| in_range(predicate, fragment));
    let nulls = filter.nulls.iter().map(|test| is_null(test.null_bit, fragment).map(|null| null == test.is_null));
    let mut verdict = Verdict::Pass;
    for test in ranges.chain(nulls) {
        match test {
            Some(true) => {}
            Some(false) => return Verdict::Fail,
            None => verdict = Verdict::Undecided,
        }
    }
    verdict
}

/// `None` if the fragment is too short or the bounds do not have the predicate's width.
fn in_range(predicate: &FixedPredicate, fragment: &[u8]) -> Option<bool> {
    let (offset, width) = (predicate.offset as usize, usize::from(predicate.width));
    if predicate.lo.len() != width || predicate.hi.len() != width {
        return None;
    }
    let value = fragment.get(offset..offset.checked_add(width)?)?;
    let null = is_null(predicate.null_bit, fragment)?;
    Some(!null && predicate.lo.as_ref() <= value && value <= predicate.hi.as_ref())
}

fn is_null((byte, mask): NullBit, fragment: &[u8]) -> Option<bool> {
    fragment.get(byte as usize).map(|bits| bits & mask != 0)
}
