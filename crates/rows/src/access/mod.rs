//! Which keys a scan reads, of the table or of one of its indexes.
//!
//! ```text
//!   conjuncts ──compile──> KeyTest, operands open ──bind(row, outer, parameters)──> Condition ──rowkey──> key ranges
//!   access paths, one for the table and one for each index of use ──chosen when they are bound──> the one to take
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

/// A scan with its conditions.
#[derive(Debug)]
pub(crate) struct ScanPath {
    pub(crate) table: Arc<Table>,
    /// Of the table's rows.
    pub(crate) reader: RowReader,
    /// Columns that it reads.
    pub(crate) cols: Vec<ColId>,
    /// The conditions, for what the key ranges do not cover.
    pub(crate) conditions: Vec<RowExpr>,
    /// What the conditions say about the table's columns, each under its place: for estimates.
    pub(crate) column_tests: Vec<KeyTest>,
    /// Access paths to the rows; never empty. All of them give the order that was asked for, or none does.
    pub(crate) candidates: Vec<AccessPath>,
}

/// How few rows the conditions leave, whatever the values of their operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Width {
    /// So many keys as lists have items: every part has values.
    Points,
    /// The first part has values.
    Narrow,
    /// The first part lies between two values: what that leaves is judged when they are known.
    Bounded,
    /// Some of the table, or all of it.
    Wide,
}

/// How narrow `tests` are over a key of so many parts.
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
