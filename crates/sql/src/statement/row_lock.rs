//! SELECT … FOR UPDATE and its like.

use crate::ast;

/// A query whose rows are locked, or those of subqueries in it. The query itself has no locking clause any more.
#[derive(Clone, Debug, PartialEq)]
pub struct LockingSelect {
    /// The query.
    pub query: Box<ast::Query>,
    /// Its own locking clauses; without one a subquery has some.
    pub locks: Vec<RowLock>,
}

/// A locking clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowLock {
    /// How strong.
    pub strength: RowLockStrength,
    /// Of which tables of FROM, by their aliases, folded as they are compared; none are named: of all.
    pub of: Vec<ast::Ident>,
    /// What to do when a row is locked by somebody else.
    pub wait: RowLockWait,
}

/// How strongly rows are locked, weakest first.
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
    /// As it is written.
    pub fn words(self) -> &'static str {
        match self {
            Self::KeyShare => "FOR KEY SHARE",
            Self::Share => "FOR SHARE",
            Self::NoKeyUpdate => "FOR NO KEY UPDATE",
            Self::Update => "FOR UPDATE",
        }
    }
}

/// What to do about a row that somebody else has locked; where several are asked for the last one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowLockWait {
    /// Wait for it.
    Block,
    /// SKIP LOCKED: leave it out.
    Skip,
    /// NOWAIT: fail.
    Fail,
}
