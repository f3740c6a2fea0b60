//! Statements that write rows.

use super::{ColId, Cte, Query, RelId, Scalar};
use catalog::{Table, TableOid};
use std::sync::Arc;

/// A row of the target that expressions read: the existing, the proposed or the written row.
#[derive(Clone, Debug)]
pub struct TargetRow {
    /// Its table reference.
    pub rel: RelId,
    /// Columns that the statement reads: ordinal and id.
    pub cols: Vec<(usize, ColId)>,
}

/// The target table of a statement.
#[derive(Clone, Debug)]
pub struct Target {
    /// The table.
    pub table: Arc<Table>,
    /// The existing row.
    pub old: TargetRow,
    /// `excluded`: the row proposed for insertion.
    pub excluded: TargetRow,
    /// The row as written or deleted, which RETURNING reads.
    pub written: TargetRow,
}

/// INSERT and UPSERT.
#[derive(Clone, Debug)]
pub struct Insert {
    /// The target table.
    pub target: Target,
    /// Ordinals of the columns that the source provides, in its order.
    pub columns: Vec<usize>,
    /// The rows.
    pub source: InsertSource,
    /// Defaults of the other columns, and of those that the source sets to DEFAULT.
    pub defaults: Vec<(usize, NewValue)>,
    /// The action if a row with the key exists.
    pub action: OnConflict,
    /// RETURNING: name and value.
    pub returning: Vec<(String, Scalar)>,
    /// CTEs in subqueries of VALUES, ON CONFLICT and RETURNING.
    pub ctes: Vec<Cte>,
}

/// Where inserted rows come from.
#[derive(Clone, Debug)]
pub enum InsertSource {
    /// VALUES: a value for each of [`Insert::columns`].
    Rows(Vec<Vec<NewValue>>),
    /// A query with an output for each of [`Insert::columns`], cast for assignment.
    Query(Box<Query>),
}

/// The value of a column, cast for assignment to its type without the type modifier, which is applied on writing.
#[derive(Clone, Debug)]
pub enum NewValue {
    /// An expression.
    Expr(Scalar),
    /// The column's default: see [`Insert::defaults`].
    Default,
    /// The next number of a sequence.
    NextOf(TableOid),
    /// The column's array with some elements replaced, one after the other.
    Elements(Vec<ElementChange>),
}

/// `a[1][2] = value`.
#[derive(Clone, Debug)]
pub struct ElementChange {
    /// Subscripts, of type integer.
    pub places: Vec<Scalar>,
    /// The new element.
    pub value: Scalar,
}

/// Columns, by ordinal, and their new values.
pub type Assignments = Vec<(usize, NewValue)>;

/// The action if a row with the key exists.
#[derive(Clone, Debug)]
pub enum OnConflict {
    /// An error: there is no ON CONFLICT.
    Refuse,
    /// DO NOTHING.
    Keep,
    /// UPSERT of all columns: the whole row is replaced.
    Replace,
    /// UPSERT of these columns, by ordinal: the others keep their values.
    Overwrite(Vec<usize>),
    /// DO UPDATE SET, ON DUPLICATE KEY UPDATE.
    Update {
        /// Assignments over the existing row and, for DO UPDATE, `excluded`.
        set: Assignments,
        /// WHERE, as conjuncts.
        filter: Vec<Scalar>,
        /// DO UPDATE: a second change of a row is an error.
        once: bool,
    },
}

/// UPDATE and DELETE.
#[derive(Clone, Debug)]
pub struct Update {
    /// The table.
    pub target: Target,
    /// The rows: columns of the target's old row and of joined tables, and the CTEs. It has no outputs.
    pub source: Query,
    /// Key columns of the target, in key order.
    pub key: Vec<ColId>,
    /// WHERE, if it and SET read the target's row only: no joins, subqueries, WITH, ORDER BY or LIMIT. `source` has it,
    /// too.
    pub own: Option<Vec<Scalar>>,
    /// SET, over columns of the source.
    pub set: Assignments,
    /// RETURNING: name and value, over the written row and columns of the source.
    pub returning: Vec<(String, Scalar)>,
}
