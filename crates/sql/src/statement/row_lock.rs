//! SELECT … FOR UPDATE and other locking clauses.

use crate::ast;

/// A query with a locking clause, of its own or in a subquery. Its own clauses are removed from the query.
#[derive(Clone, Debug, PartialEq)]
pub struct LockingSelect {
    /// The query.
    pub query: Box<ast::Query>,
    /// Its own locking clauses; if empty, a subquery has some.
    pub locks: Vec<RowLock>,
}

/// A locking clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowLock {
    /// The lock strength.
    pub strength: RowLockStrength,
    /// OF: the tables of FROM by their aliases, folded; empty means all.
    pub of: Vec<ast::Ident>,
    /// What happens if another transaction holds a lock on a row.
    pub wait: RowLockWait,
}

/// The strengths of row locks, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowLockStrength {
    /// FOR KEY SHARE.
    KeyShare,
    /// FOR SHARE.
    Share,
    /// FOR NO KEY UPDATE.
    NoKeyUpdate,
    /// FOR UPDATE.
    Update,
}

impl RowLockStrength {
    /// Returns its keywords.
    pub fn words(self) -> &'static str {
        match self {
            Self::KeyShare => "FOR KEY SHARE",
            Self::Share => "FOR SHARE",
            Self::NoKeyUpdate => "FOR NO KEY UPDATE",
            Self::Update => "FOR UPDATE",
        }
    }
}

/// What happens if another transaction holds a lock on a row. Of several clauses for a table, the last variant wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowLockWait {
    /// Waits for the lock.
    Block,
    /// SKIP LOCKED: skips the row.
    Skip,
    /// NOWAIT: fails.
    Fail,
}
