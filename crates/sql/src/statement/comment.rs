//! COMMENT ON.

use super::ObjectName;
use super::names::quote;
use std::fmt::{self, Display, Formatter};

/// COMMENT ON … IS ….
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// The object.
    pub on: Commented,
    /// The comment; `None` removes it.
    pub text: Option<String>,
}

/// An object that can have a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Commented {
    /// TABLE, VIEW, MATERIALIZED VIEW, SEQUENCE, INDEX.
    Relation(RelationKind, ObjectName),
    /// COLUMN `relation.column`.
    Column {
        /// A table or a view.
        relation: ObjectName,
        /// Its column.
        column: String,
    },
    /// CONSTRAINT `name` ON `table`.
    Constraint {
        /// The constraint.
        name: String,
        /// Its table.
        table: ObjectName,
    },
    /// SCHEMA.
    Schema(String),
    /// DATABASE.
    Database(String),
}

/// A kind of relation, by the keyword of the statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelationKind {
    /// TABLE.
    Table,
    /// VIEW.
    View,
    /// MATERIALIZED VIEW.
    MaterializedView,
    /// SEQUENCE.
    Sequence,
    /// INDEX.
    Index,
}

impl RelationKind {
    /// Returns its name in messages.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::View => "view",
            Self::MaterializedView => "materialized view",
            Self::Sequence => "sequence",
            Self::Index => "index",
        }
    }
}

impl Display for Comment {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.text {
            Some(text) => write!(f, "COMMENT ON {} IS '{}'", self.on, text.replace('\'', "''")),
            None => write!(f, "COMMENT ON {} IS NULL", self.on),
        }
    }
}

impl Display for Commented {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Relation(kind, name) => write!(f, "{} {name}", kind.noun().to_uppercase()),
            Self::Column { relation, column } => write!(f, "COLUMN {relation}.{}", quote(column)),
            Self::Constraint { name, table } => write!(f, "CONSTRAINT {} ON {table}", quote(name)),
            Self::Schema(name) => write!(f, "SCHEMA {}", quote(name)),
            Self::Database(name) => write!(f, "DATABASE {}", quote(name)),
        }
    }
}
