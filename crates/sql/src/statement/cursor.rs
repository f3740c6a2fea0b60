//! Statements on cursors.

use super::RowLock;
use crate::ast;

/// DECLARE … CURSOR, forward-only and without HOLD: Bennu has no other cursors.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclareCursor {
    /// The cursor.
    pub name: String,
    /// Its query.
    pub query: Box<ast::Query>,
    /// Its locking clauses.
    pub locks: Vec<RowLock>,
    /// The query's text.
    pub text: String,
}

/// FETCH and MOVE, forward only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchCursor {
    /// The cursor.
    pub name: String,
    /// Number of rows, at least one; `None` means all remaining rows.
    pub count: Option<u64>,
    /// MOVE: the rows are skipped.
    pub moves: bool,
}
