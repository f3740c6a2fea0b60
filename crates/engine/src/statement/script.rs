//! A statement of a simple query, and the properties of statements that front ends need before they run.

use crate::Prepared;
use crate::statement::Source;
use crate::statement::prepared::ends_block;
use crate::statement::shapes::ByShape;
use sql::Statement;
use std::sync::Arc;

/// One statement of a simple query.
#[derive(Clone, Debug)]
pub struct Script {
    /// The statement as written, or the prepared statement of its shape.
    pub(crate) source: Arc<Source>,
    /// Its own text.
    pub(crate) text: Arc<str>,
    pub(crate) shape: ByShape,
}

/// The cursor operation of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CursorStep<'a> {
    /// DECLARE.
    Declare {
        /// The cursor.
        name: &'a str,
    },
    /// FETCH or MOVE.
    Fetch {
        /// The cursor.
        name: &'a str,
        /// Number of rows forward; `None` for ALL.
        count: Option<u64>,
        /// Whether it is MOVE, which skips the rows.
        moves: bool,
    },
    /// CLOSE.
    Close {
        /// The cursor.
        name: &'a str,
    },
    /// CLOSE ALL.
    CloseAll,
}

impl Script {
    /// Its cursor operation, for front ends that have portals of their own.
    pub fn cursor_step(&self) -> Option<CursorStep<'_>> {
        self.source.cursor_step()
    }
}

impl Prepared {
    /// As [`Script::cursor_step`].
    pub fn cursor_step(&self) -> Option<CursorStep<'_>> {
        self.source.as_ref()?.cursor_step()
    }

    /// Whether it is COMMIT or ROLLBACK, which end a transaction with its portals.
    pub fn ends_transaction(&self) -> bool {
        self.is_one_of(|statement| matches!(statement, Statement::Commit { .. } | Statement::Rollback { .. }))
    }

    /// Whether it may end a failed block: COMMIT, ROLLBACK or ROLLBACK TO.
    pub fn ends_block(&self) -> bool {
        self.is_one_of(ends_block)
    }

    fn is_one_of(&self, test: impl Fn(&Statement) -> bool) -> bool {
        self.source.as_ref().is_some_and(|source| test(&source.statement))
    }
}

impl Source {
    fn cursor_step(&self) -> Option<CursorStep<'_>> {
        match &self.statement {
            Statement::DeclareCursor(declare) => Some(CursorStep::Declare { name: &declare.name }),
            Statement::Fetch(fetch) => {
                Some(CursorStep::Fetch { name: &fetch.name, count: fetch.count, moves: fetch.moves })
            }
            Statement::CloseCursor(name) => Some(CursorStep::Close { name }),
            Statement::Discard(sql::Discard::Cursors) => Some(CursorStep::CloseAll),
            _ => None,
        }
    }
}
