//! Prepared statements.

use crate::{ColumnDesc, DataType};
use engine::Prepared;
use std::sync::Arc;

/// A parsed and planned statement. Any session of its database may run it, many times and with other parameters; it is
/// replanned automatically when one of its tables changes.
#[derive(Clone, Debug)]
pub struct Statement {
    pub(crate) prepared: Arc<Prepared>,
}

impl Statement {
    /// Types of `$1`, `$2`, …
    pub fn parameters(&self) -> &[DataType] {
        &self.prepared.parameters
    }

    /// Columns of its result; `None` if it returns no rows.
    pub fn columns(&self) -> Option<&[ColumnDesc]> {
        self.prepared.columns.as_ref().map(|columns| columns.as_slice())
    }
}

/// A runnable statement: the text of one statement, or a [`Statement`].
pub trait ToStatement {
    /// Returns the text or the prepared statement.
    fn to_statement(&self) -> Source<'_>;
}

/// A statement to run.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// Text, which is prepared first.
    Text(&'a str),
    /// A prepared statement.
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
