//! CREATE INDEX and what goes with it.

use super::{KeyPartDef, ObjectName, TableOption};

/// CREATE INDEX.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateIndex {
    /// UNIQUE.
    pub unique: bool,
    /// CONCURRENTLY: the table is written to meanwhile.
    pub concurrently: bool,
    /// ASYNC: the statement does not wait for the entries.
    pub is_async: bool,
    /// No error when a relation of its name is there.
    pub if_not_exists: bool,
    /// Its name, in the schema of its table; `None` leaves the choice to the catalog.
    pub name: Option<String>,
    /// The table.
    pub table: ObjectName,
    /// What is indexed, in order.
    pub parts: Vec<KeyPartDef>,
    /// INCLUDE.
    pub include: Vec<String>,
    /// NULLS NOT DISTINCT.
    pub nulls_not_distinct: bool,
    /// WITH (…).
    pub options: Vec<TableOption>,
}

/// A UNIQUE constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UniqueDef {
    /// CONSTRAINT name.
    pub name: Option<String>,
    /// Its columns, in order.
    pub columns: Vec<String>,
    /// INCLUDE.
    pub include: Vec<String>,
    /// NULLS NOT DISTINCT.
    pub nulls_not_distinct: bool,
    /// WITH (…).
    pub options: Vec<TableOption>,
    /// DEFERRABLE.
    pub deferrable: bool,
    /// INITIALLY DEFERRED.
    pub deferred: bool,
}

/// What REINDEX makes anew, and CHECK looks through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reindex {
    /// One index.
    Index,
    /// All indexes of a table.
    Table,
}

/// CHECK INDEX, CHECK TABLE: entries of indexes held against the rows of their table.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckIndexes {
    /// What the name is of.
    pub kind: Reindex,
    /// The index or the table.
    pub name: ObjectName,
    /// REPAIR: entries become what they should be.
    pub repair: bool,
}
