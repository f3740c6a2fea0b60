//! CREATE INDEX and what goes with it.

use super::{ColumnName, KeyPartDef, ObjectName, TableOption, WrittenExpr};
use sqlparser::ast;

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
    /// USING: the access method.
    pub method: Option<String>,
    /// What is indexed, in order.
    pub parts: Vec<IndexPartDef>,
    /// INCLUDE.
    pub include: Vec<String>,
    /// The columns of both that were written with their families.
    pub families: Vec<ColumnName>,
    /// NULLS NOT DISTINCT.
    pub nulls_not_distinct: bool,
    /// WITH (…), and Phoenix's properties.
    pub options: Vec<TableOption>,
    /// TABLESPACE.
    pub tablespace: Option<String>,
    /// WHERE.
    pub predicate: Option<WrittenExpr>,
    /// Phoenix's LOCAL.
    pub local: bool,
    /// Phoenix's UNCOVERED.
    pub uncovered: bool,
    /// Phoenix's SPLIT ON.
    pub split_on: Vec<Vec<ast::Expr>>,
}

/// One part of an index.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexPartDef {
    /// What of the table's rows.
    pub of: IndexPartOf,
    /// The operator class.
    pub class: Option<String>,
    /// DESC.
    pub descending: bool,
    /// NULLS FIRST or NULLS LAST, where written.
    pub nulls_first: Option<bool>,
}

/// What a part of an index is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum IndexPartOf {
    /// A column.
    Column(String),
    /// An expression.
    Expression(Box<WrittenExpr>),
}

/// What ALTER INDEX makes of an index, in Phoenix's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexChange {
    /// USABLE, ACTIVE: it is read again.
    Usable,
    /// UNUSABLE: it is kept, not read.
    Unusable,
    /// DISABLE: it is neither kept nor read.
    Disable,
    /// REBUILD.
    Rebuild,
    /// REBUILD ASYNC: the statement does not wait for the entries.
    RebuildAsync,
    /// CONSISTENCY = STRONG: as it is.
    Strong,
}

/// A UNIQUE constraint, or a primary key that is DEFERRABLE: rows are not kept by that, but by a hidden row id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UniqueDef {
    /// CONSTRAINT name.
    pub name: Option<String>,
    /// PRIMARY KEY.
    pub primary: bool,
    /// Its columns, in order; of a primary key each with its direction.
    pub parts: Vec<KeyPartDef>,
    /// INCLUDE.
    pub include: Vec<String>,
    /// NULLS NOT DISTINCT.
    pub nulls_not_distinct: bool,
    /// WITH (…).
    pub options: Vec<TableOption>,
    /// USING INDEX TABLESPACE.
    pub tablespace: Option<String>,
    /// DEFERRABLE.
    pub deferrable: bool,
    /// INITIALLY DEFERRED.
    pub deferred: bool,
}

impl UniqueDef {
    /// The names of its columns.
    pub fn columns(&self) -> impl Iterator<Item = &String> {
        self.parts.iter().map(|part| &part.column)
    }
}

/// REINDEX.
#[derive(Clone, Debug, PartialEq)]
pub struct Reindex {
    /// What the name is of.
    pub of: ReindexOf,
    /// The index, the table, the schema or the database.
    pub name: ObjectName,
    /// CONCURRENTLY: the table is written to meanwhile.
    pub concurrently: bool,
    /// VERBOSE: each index that was built is told.
    pub verbose: bool,
    /// TABLESPACE, without effect.
    pub tablespace: Option<String>,
}

/// What REINDEX builds again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReindexOf {
    /// One index.
    Index,
    /// All indexes of a table.
    Table,
    /// All indexes of the tables of a schema.
    Schema,
    /// All indexes of the database.
    Database,
}

/// CHECK INDEX, CHECK TABLE: entries of indexes held against the rows of their table.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckIndexes {
    /// Is the name that of a table, all of whose indexes are checked? Otherwise it is that of one index.
    pub of_table: bool,
    /// The index or the table.
    pub name: ObjectName,
    /// REPAIR: entries become what they should be.
    pub repair: bool,
}
