//! More kinds of queries. They use a separate random sequence, so that the other queries of a seed stay the same.

use crate::random::Random;
use crate::{arguments, casts, distances, places, sources, writes};

/// Marks a query of constants, for which every difference counts.
pub(crate) const EXACT: &str = "/* exact */ ";

/// Generates query `number` of the seed.
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
