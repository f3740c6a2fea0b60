//! The inputs of an expression.

use builtins::Env;
use std::sync::Arc;
use types::Datum;

/// A row: its values, at the indexes that were fixed at compile time.
pub(crate) type Row = Vec<Datum>;

/// The values that are the same for all rows of a node.
#[derive(Debug)]
pub(crate) struct Values<'a> {
    pub(crate) env: &'a Env,
    pub(crate) params: &'a [Datum],
    /// Outer columns, by slot.
    pub(crate) outer: Vec<Datum>,
    /// The rows of subqueries for the current row, by the subquery's number.
    pub(crate) answers: Vec<Option<Arc<Vec<Row>>>>,
}

/// A row and the values around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) row: &'a [Datum],
    pub(crate) values: &'a Values<'a>,
}
