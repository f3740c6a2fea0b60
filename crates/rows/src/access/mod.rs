//! The access paths of a scan: the key ranges that it reads, of the table or of one of its indexes.
//!
//! ```text
//!   conjuncts ──compile──> KeyTest, open operands ──bind(row, outer, parameters)──> Condition ──rowkey──> key ranges
//!   access paths, one for the table and one per useful index ──chosen when they are bound──> the path to take
//! ```
//! Operands may be constants, parameters, outer columns, and for lookups columns of the other side.

mod access_path;
mod bind;
mod bound_index;
mod clauses;
mod key_test;
mod order;

pub(crate) use self::bind::bound;
pub(crate) use access_path::{AccessPath, Scanned, rank};
pub(crate) use bound_index::{BoundIndex, BoundIndexes};
pub use clauses::clause;
pub(crate) use key_test::{KeyTest, Sides, Target};
pub(crate) use order::{Direction, direction};

use crate::expr::RowExpr;
use ::bind::tree::ColId;
use catalog::{RowReader, Table};
use std::sync::Arc;

/// A scan with its conditions and candidate paths.
#[derive(Debug)]
pub(crate) struct ScanPath {
    pub(crate) table: Arc<Table>,
    /// The decoder of the table's rows.
    pub(crate) reader: RowReader,
    /// The columns that it reads.
    pub(crate) cols: Vec<ColId>,
    /// The conditions, to check those that the key ranges do not express.
    pub(crate) conditions: Vec<RowExpr>,
    /// The conditions as tests of the table's columns, by column index: for estimates.
    pub(crate) column_tests: Vec<KeyTest>,
    /// The candidate paths; never empty. Either all of them give the required order, or none does.
    pub(crate) candidates: Vec<AccessPath>,
}

/// How few rows the conditions leave, for any values of their operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Width {
    /// Every part has values: as many keys as the lists have items.
    Points,
    /// The first part has values.
    Narrow,
    /// The first part has a lower and an upper bound: the number of rows is estimated when the values are known.
    Bounded,
    /// Anything else, up to the whole table.
    Wide,
}

/// The width of `tests` over a key of `parts` parts.
pub(crate) fn width(tests: &[KeyTest], parts: usize) -> Width {
    let has_values = |part: usize| tests.iter().any(|test| test.gives_values(part));
    if (0..parts).all(has_values) {
        Width::Points
    } else if has_values(0) {
        Width::Narrow
    } else if tests.iter().any(|test| test.has_lower(0)) && tests.iter().any(|test| test.has_upper(0)) {
        Width::Bounded
    } else {
        Width::Wide
    }
}
