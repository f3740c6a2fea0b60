//! CREATE INDEX and related statements.

use super::{ColumnName, KeyPartDef, ObjectName, TableOption, WrittenExpr};
use sqlparser::ast;

/// CREATE INDEX.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateIndex {
    /// UNIQUE.
    pub unique: bool,
    /// CONCURRENTLY: the table can be written meanwhile.
    pub concurrently: bool,
    /// ASYNC: the statement does not wait for the entries.
    pub is_async: bool,
    /// No error if a relation of its name exists.
    pub if_not_exists: bool,
    /// Its name, in the schema of its table; `None` lets the catalog choose.
    pub name: Option<String>,
    /// The table.
    pub table: ObjectName,
    /// USING: the access method.
    pub method: Option<String>,
    /// Columns and expressions of the index, in order.
    pub parts: Vec<IndexPartDef>,
    /// INCLUDE.
    pub include: Vec<String>,
    /// Columns of `parts` and `include` that were written with their families.
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
    /// The column or expression.
    pub of: IndexPartOf,
    /// The operator class.
    pub class: Option<String>,
    /// DESC.
    pub descending: bool,
    /// NULLS FIRST or NULLS LAST, if given.
    pub nulls_first: Option<bool>,
}

/// The column or expression of an index part.
#[derive(Clone, Debug, PartialEq)]
pub enum IndexPartOf {
    /// A column.
    Column(String),
    /// An expression.
    Expression(Box<WrittenExpr>),
}

/// A change by ALTER INDEX, in Phoenix's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexChange {
    /// USABLE, ACTIVE: queries read it again.
    Usable,
    /// UNUSABLE: it is maintained, but not read.
    Unusable,
    /// DISABLE: it is neither maintained nor read.
    Disable,
    /// REBUILD.
    Rebuild,
    /// REBUILD ASYNC: the statement does not wait for the entries.
    RebuildAsync,
    /// CONSISTENCY = STRONG, which is the only mode.
    Strong,
}

/// A UNIQUE constraint, or a DEFERRABLE primary key, with a hidden row id as the rowkey.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UniqueDef {
    /// CONSTRAINT name.
    pub name: Option<String>,
    /// PRIMARY KEY.
    pub primary: bool,
    /// Its columns, in order; for a primary key each with its direction.
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
    /// Returns the names of its columns.
    pub fn columns(&self) -> impl Iterator<Item = &String> {
        self.parts.iter().map(|part| &part.column)
    }
}

/// REINDEX.
#[derive(Clone, Debug, PartialEq)]
pub struct Reindex {
    /// The kind of object that is named.
    pub of: ReindexOf,
    /// The index, the table, the schema or the database.
    pub name: ObjectName,
    /// CONCURRENTLY: the table can be written meanwhile.
    pub concurrently: bool,
    /// VERBOSE: reports each index that was rebuilt.
    pub verbose: bool,
    /// TABLESPACE, without effect.
    pub tablespace: Option<String>,
}

/// The kind of object that REINDEX rebuilds.
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

/// CHECK INDEX, CHECK TABLE: compare index entries with the rows of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckIndexes {
    /// Is the name that of a table, all of whose indexes are checked? Otherwise it is that of one index.
    pub of_table: bool,
    /// The index or the table.
    pub name: ObjectName,
    /// REPAIR: corrects wrong entries.
    pub repair: bool,
}
