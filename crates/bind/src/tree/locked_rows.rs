//! Queries whose rows are locked.

use super::{ColId, Query, Scalar};
use catalog::Table;
use sql::{RowLockStrength, RowLockWait};
use std::sync::Arc;

/// SELECT … FOR UPDATE and other locking clauses.
#[derive(Clone, Debug)]
pub struct LockedRows {
    /// The rows, without LIMIT and OFFSET: those count locked rows.
    pub query: Query,
    /// The tables whose rows are locked; empty if only subqueries lock rows.
    pub tables: Vec<LockedTable>,
    /// LIMIT, a bigint; NULL means no limit.
    pub limit: Option<Scalar>,
    /// OFFSET.
    pub offset: Option<Scalar>,
    /// Does the query only scan one table, without subqueries, WITH, LIMIT and OFFSET?
    pub own: bool,
}

/// A table whose rows are locked.
#[derive(Clone, Debug)]
pub struct LockedTable {
    /// The table.
    pub table: Arc<Table>,
    /// The lock strength.
    pub strength: RowLockStrength,
    /// What happens if another transaction holds a lock on a row.
    pub wait: RowLockWait,
    /// Its key columns in the query's rows, in key order.
    pub key: Vec<ColId>,
}
