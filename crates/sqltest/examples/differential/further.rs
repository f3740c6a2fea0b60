//! More kinds of queries. They have a sequence of their own, so that the other queries of a seed stay what they are.

use crate::random::Random;
use crate::{arguments, casts, distances, places, sources, writes};

/// In front of a query of constants: whatever differs in its answer is a difference.
pub(crate) const EXACT: &str = "/* exact */ ";

/// The query of this number.
pub(crate) fn query(seed: u64, number: u64) -> String {
    let random = &mut Random::new(seed ^ 0x5EED_0000, number);
    match random.below(12) {
        0 | 1 => casts::query(random),
        2..5 => arguments::query(random),
        5 | 6 => places::query(random),
        7 | 8 => sources::query(random),
        9 => distances::query(random),
        _ => writes::query(random),
    }
}
