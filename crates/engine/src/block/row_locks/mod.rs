//! SELECT … FOR UPDATE | NO KEY UPDATE | SHARE | KEY SHARE: a query whose rows stay as they are to the end of the transaction.
//!
//! ```text
//!   SELECT a FROM t WHERE … ORDER BY a LIMIT 3 FOR UPDATE
//!     └──> SELECT a, t.key FROM t WHERE … ORDER BY a     rows one by one
//!            └──> lock the row, compare it with what was read ──> answered, until there are 3
//! ```
//! The query runs in whatever tier suits it, with the keys of the locked tables among its columns, which the binder has found
//! (`bind::tree::LockedRows`). LIMIT and OFFSET count rows that are locked, so they are counted here (`run.rs`). A row that others changed since it was read makes the
//! query run again on a newer state, with the locks kept, as UPDATE does (`dml/rows_changed.rs`).
//!
//! Subqueries that lock rows run before the statement that they are in (`subqueries.rs`).
//!
//! All rows are locked before the first one is answered, those of a cursor and of a portal too.

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
    /// None, where subqueries alone lock rows.
    tables: Vec<LockedTable>,
    /// All columns of the query.
    all: Arc<Vec<ColumnDesc>>,
    /// Those that are answered: the first ones.
    pub(crate) columns: Arc<Vec<ColumnDesc>>,
    /// LIMIT and OFFSET, NULL where there is none.
    bounds: Exprs,
    /// Is a row judged by what stands in it alone, and is it asked for whatever others there are?
    own: bool,
}

/// What finds the rows.
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
    /// Where its key stands among the columns of the query.
    key: Vec<usize>,
}

impl LockProgram {
    /// The table that is locked first.
    pub(crate) fn target(&self) -> Option<&Target> {
        self.tables.first().map(|table| &table.target)
    }

    /// The tables.
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
