//! Queries whose rows are locked.

use super::{ColId, Query, Scalar};
use catalog::Table;
use sql::{RowLockStrength, RowLockWait};
use std::sync::Arc;

/// SELECT … FOR UPDATE and its like.
#[derive(Clone, Debug)]
pub struct LockedRows {
    /// The rows, without LIMIT and OFFSET: those count rows that are locked.
    pub query: Query,
    /// The tables of which rows are locked; none if only subqueries lock rows.
    pub tables: Vec<LockedTable>,
    /// LIMIT, a bigint; NULL is none.
    pub limit: Option<Scalar>,
    /// OFFSET.
    pub offset: Option<Scalar>,
    /// Is each row one of a single table, judged by what stands in it alone?
    pub own: bool,
}

/// A table of which rows are locked.
#[derive(Clone, Debug)]
pub struct LockedTable {
    /// The table.
    pub table: Arc<Table>,
    /// How strongly.
    pub strength: RowLockStrength,
    /// What to do when a row is locked by somebody else.
    pub wait: RowLockWait,
    /// The columns of its key in the query's rows, in key order.
    pub key: Vec<ColId>,
}
