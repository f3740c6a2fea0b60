//! Statements about cursors.

use super::RowLock;
use crate::ast;

/// DECLARE … CURSOR, forward only and without HOLD: no other kind is there.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclareCursor {
    /// The cursor.
    pub name: String,
    /// What it reads.
    pub query: Box<ast::Query>,
    /// Its locking clauses.
    pub locks: Vec<RowLock>,
    /// The query's text.
    pub text: String,
}

/// FETCH and MOVE, which only go forward.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchCursor {
    /// The cursor.
    pub name: String,
    /// So many rows, at least one; `None` is all that are left.
    pub count: Option<u64>,
    /// MOVE: the rows are passed over.
    pub moves: bool,
}
