//! Prepared statements.

use crate::{ColumnDesc, DataType};
use engine::Prepared;
use std::sync::Arc;

/// A statement that was parsed and planned once. It may be run by any session of its database, many times and with
/// other parameters; when a table that it names changes, it is planned again by itself.
#[derive(Clone, Debug)]
pub struct Statement {
    pub(crate) prepared: Arc<Prepared>,
}

impl Statement {
    /// Types of `$1`, `$2`, …
    pub fn parameters(&self) -> &[DataType] {
        &self.prepared.parameters
    }

    /// Columns of its answer; `None` if it has no rows.
    pub fn columns(&self) -> Option<&[ColumnDesc]> {
        self.prepared.columns.as_ref().map(|columns| columns.as_slice())
    }
}

/// What can be run: the text of one statement, or a [`Statement`].
pub trait ToStatement {
    /// Which of the two it is.
    fn to_statement(&self) -> Source<'_>;
}

/// A statement to run.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// To be prepared first.
    Text(&'a str),
    /// Prepared.
    Prepared(&'a Statement),
}

impl ToStatement for str {
    fn to_statement(&self) -> Source<'_> {
        Source::Text(self)
    }
}

impl ToStatement for String {
    fn to_statement(&self) -> Source<'_> {
        Source::Text(self)
    }
}

impl ToStatement for Statement {
    fn to_statement(&self) -> Source<'_> {
        Source::Prepared(self)
    }
}
