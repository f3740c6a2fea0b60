//! SELECT … FOR UPDATE | NO KEY UPDATE | SHARE | KEY SHARE: a query that takes row locks to the end of the transaction.
//!
//! ```text
//!   SELECT a FROM t WHERE … ORDER BY a LIMIT 3 FOR UPDATE
//!     └──> SELECT a, t.key FROM t WHERE … ORDER BY a     rows one by one
//!            └──> lock the row, compare it with what was read ──> returned, until there are 3
//! ```
//! The query runs as a key program, a short program or a DataFusion plan. The binder adds the keys of the locked tables
//! to its columns (`bind::tree::LockedRows`). LIMIT and OFFSET count locked rows, so `run.rs` applies them. If another
//! transaction changed a row since it was read, the query runs again on a newer snapshot and keeps its locks, as UPDATE
//! does (`dml/rows_changed.rs`).
//!
//! Subqueries with a locking clause run before the statement that contains them (`subqueries.rs`).
//!
//! All rows are locked before the first row is returned, also for a cursor and a portal.

mod compile;
mod run;
mod subqueries;

pub(crate) use compile::command;

use crate::ColumnDesc;
use crate::dml::{Exprs, RowSource, Target};
use crate::key_program::KeyProgram;
use query::Plan;
use sql::RowLockWait;
use std::sync::Arc;
use txn::LockMode;

/// A compiled query that locks rows.
#[derive(Debug)]
pub(crate) struct LockProgram {
    pub(crate) finder: Finder,
    /// Empty if only subqueries lock rows.
    tables: Vec<LockedTable>,
    /// All columns of the query, with the key columns added for locking.
    all: Arc<Vec<ColumnDesc>>,
    /// The columns of the result: the first ones of `all`.
    pub(crate) columns: Arc<Vec<ColumnDesc>>,
    /// LIMIT and OFFSET; NULL if the clause is missing.
    bounds: Exprs,
    /// Whether each result row comes from one row of one table and depends on no other row (`LockedRows::own`).
    own: bool,
}

/// The program that finds the rows.
#[derive(Debug)]
pub(crate) enum Finder {
    Key(KeyProgram),
    Rows(RowSource),
}

/// A table of the query whose rows are locked.
#[derive(Debug)]
struct LockedTable {
    target: Target,
    mode: LockMode,
    wait: RowLockWait,
    /// Positions of the table's key among the columns of the query.
    key: Vec<usize>,
}

impl LockProgram {
    /// The first locked table.
    pub(crate) fn target(&self) -> Option<&Target> {
        self.tables.first().map(|table| &table.target)
    }

    /// The locked tables.
    pub(crate) fn targets(&self) -> impl Iterator<Item = &Target> {
        self.tables.iter().map(|table| &table.target)
    }

    pub(crate) fn is_cacheable(&self) -> bool {
        let rows = match &self.finder {
            Finder::Key(_) => true,
            Finder::Rows(source) => source.plan.cacheable,
        };
        rows && self.bounds.is_cacheable()
    }

    /// The plan that finds the rows, if there is one.
    pub(crate) fn plan(&self) -> Option<&Arc<Plan>> {
        match &self.finder {
            Finder::Key(_) => None,
            Finder::Rows(source) => Some(&source.plan),
        }
    }

    pub(crate) fn needs_context(&self) -> bool {
        self.bounds.needs_context()
    }
}
