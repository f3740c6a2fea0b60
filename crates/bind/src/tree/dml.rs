//! Statements that write rows.

use super::{ColId, Cte, Query, RelId, Scalar};
use catalog::{Table, TableOid};
use std::sync::Arc;

/// A row of the target that expressions read: the one that is there, the one that wants in, the one as written.
#[derive(Clone, Debug)]
pub struct TargetRow {
    /// The reference to it.
    pub rel: RelId,
    /// Its columns in use: ordinal and id.
    pub cols: Vec<(usize, ColId)>,
}

/// The table that is written.
#[derive(Clone, Debug)]
pub struct Target {
    /// The table.
    pub table: Arc<Table>,
    /// The row that is there.
    pub old: TargetRow,
    /// `excluded`: the row that did not get in.
    pub excluded: TargetRow,
    /// The row as it was written, or deleted: what RETURNING reads.
    pub written: TargetRow,
}

/// INSERT and UPSERT.
#[derive(Clone, Debug)]
pub struct Insert {
    /// Into.
    pub target: Target,
    /// Columns that the source gives, by ordinal, in its order.
    pub columns: Vec<usize>,
    /// The rows.
    pub source: InsertSource,
    /// Defaults of the other columns, and of those for which the source says DEFAULT.
    pub defaults: Vec<(usize, NewValue)>,
    /// What happens to a row that is there already.
    pub action: OnConflict,
    /// RETURNING: name and value.
    pub returning: Vec<(String, Scalar)>,
    /// Queries of WITH in subqueries of VALUES, ON CONFLICT and RETURNING.
    pub ctes: Vec<Cte>,
}

/// Where inserted rows come from.
#[derive(Clone, Debug)]
pub enum InsertSource {
    /// VALUES: a value for each of [`Insert::columns`].
    Rows(Vec<Vec<NewValue>>),
    /// A query with an output for each of them, cast for assignment.
    Query(Box<Query>),
}

/// The value of a column, cast for assignment to its type. Lengths and scales of types are applied where it is assigned.
#[derive(Clone, Debug)]
pub enum NewValue {
    /// An expression.
    Expr(Scalar),
    /// The column's default: see [`Insert::defaults`].
    Default,
    /// The next number of a sequence.
    NextOf(TableOid),
    /// The column's own array with some elements changed, one after the other.
    Elements(Vec<ElementChange>),
}

/// `a[1][2] = value`.
#[derive(Clone, Debug)]
pub struct ElementChange {
    /// Subscripts, of type integer.
    pub places: Vec<Scalar>,
    /// Of the type of an element.
    pub value: Scalar,
}

/// Column, by ordinal, and its new value.
pub type Assignments = Vec<(usize, NewValue)>;

/// What happens to a row whose key is there.
#[derive(Clone, Debug)]
pub enum OnConflict {
    /// An error: nothing was said of conflicts.
    Refuse,
    /// DO NOTHING.
    Keep,
    /// UPSERT of all columns: the whole row is replaced.
    Replace,
    /// UPSERT of these columns, by ordinal: the others keep their values.
    Overwrite(Vec<usize>),
    /// DO UPDATE SET, ON DUPLICATE KEY UPDATE.
    Update {
        /// Over the row that is there and, of DO UPDATE, `excluded`.
        set: Assignments,
        /// WHERE, as conjuncts.
        filter: Vec<Scalar>,
        /// DO UPDATE: a row is not changed twice.
        once: bool,
    },
}

/// UPDATE and DELETE.
#[derive(Clone, Debug)]
pub struct Update {
    /// The table.
    pub target: Target,
    /// The rows: columns of the target's old row and of joined tables, with what WITH says. It has no outputs.
    pub source: Query,
    /// The columns of its key, in key order.
    pub key: Vec<ColId>,
    /// WHERE where nothing is joined: what a row is judged by stands in that row alone. It is in the source too.
    pub own: Option<Vec<Scalar>>,
    /// SET, over columns of the source.
    pub set: Assignments,
    /// RETURNING: name and value, over the written row and columns of the source.
    pub returning: Vec<(String, Scalar)>,
}
