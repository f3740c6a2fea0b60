//! What an expression reads.

use builtins::Env;
use std::sync::Arc;
use types::Datum;

/// A row: its values, at the places that compiling chose.
pub(crate) type Row = Vec<Datum>;

/// What is the same for all rows of a node.
#[derive(Debug)]
pub(crate) struct Values<'a> {
    pub(crate) env: &'a Env,
    pub(crate) params: &'a [Datum],
    /// Columns of queries around the one that runs, by slot.
    pub(crate) outer: Vec<Datum>,
    /// Rows of subqueries for the row at hand, by number of the subquery.
    pub(crate) answers: Vec<Option<Arc<Vec<Row>>>>,
}

/// A row among its surroundings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) row: &'a [Datum],
    pub(crate) values: &'a Values<'a>,
}
