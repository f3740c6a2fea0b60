//! Statements that write rows.

use super::{ColId, Output, Rel, RelId, Scalar};
use catalog::Table;
use std::sync::Arc;

/// The table that is written.
#[derive(Clone, Debug)]
pub struct Target {
    /// The table.
    pub table: Arc<Table>,
    /// The reference to it.
    pub rel: RelId,
    /// Columns of the row that is there, by ordinal.
    pub old: Vec<ColId>,
    /// Columns of `excluded`, or of the row as written, by ordinal.
    pub new: Vec<ColId>,
}

/// INSERT and UPSERT.
#[derive(Clone, Debug)]
pub struct Insert {
    /// Into.
    pub target: Target,
    /// The rows.
    pub source: Rel,
    /// A value for each column, by ordinal, cast for assignment.
    pub row: Vec<NewValue>,
    /// ON CONFLICT, or what UPSERT means.
    pub conflict: Option<Conflict>,
    /// CHECK constraints.
    pub checks: Vec<Check>,
    /// RETURNING.
    pub returning: Vec<(Output, Scalar)>,
}

/// Where a new value comes from.
#[derive(Clone, Debug)]
pub enum NewValue {
    /// A column of the source.
    Source(ColId),
    /// A default or a generated column.
    Expr(Scalar),
    /// The next number of a sequence, by oid: drawn in batches.
    NextOf(u32),
}

/// What happens to a row whose key is there.
#[derive(Clone, Debug)]
pub struct Conflict {
    /// By which key.
    pub arbiter: Arbiter,
    /// What.
    pub action: OnConflict,
}

/// The key that a conflict is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arbiter {
    /// Any.
    Any,
    /// The primary key.
    PrimaryKey,
    /// A unique index, by oid.
    Index(u32),
}

/// What happens on a conflict.
#[derive(Clone, Debug)]
pub enum OnConflict {
    /// DO NOTHING.
    Keep,
    /// The whole row is replaced.
    Replace,
    /// These columns, by ordinal, are overwritten: UPSERT.
    Overwrite(Vec<usize>),
    /// DO UPDATE SET; ON DUPLICATE KEY UPDATE.
    Update {
        /// Ordinal and value.
        set: Vec<(usize, Scalar)>,
        /// WHERE.
        filter: Option<Scalar>,
    },
}

/// UPDATE and DELETE.
#[derive(Clone, Debug)]
pub struct Update {
    /// The table.
    pub target: Target,
    /// Old columns and joined ones.
    pub source: Rel,
    /// Ordinal and value, cast for assignment.
    pub set: Vec<(usize, Scalar)>,
    /// CHECK constraints.
    pub checks: Vec<Check>,
    /// RETURNING.
    pub returning: Vec<(Output, Scalar)>,
}

/// A CHECK constraint.
#[derive(Clone, Debug)]
pub struct Check {
    /// Its name.
    pub name: String,
    /// False is a violation; NULL is none.
    pub expr: Scalar,
}
