//! The binder's view of the catalog and the session.

use builtins::Ty;
use catalog::{ColumnId, Table, TableOid, View};
use std::sync::Arc;
use types::temporal::ZoneRules;

/// The part of the session on which the meaning of a statement depends. It is part of the key of cached plans.
#[derive(Clone, Copy)]
pub struct Environment<'a> {
    /// The text that the statement was parsed from: error positions refer to it.
    pub text: &'a str,
    /// Time zone and style for reading literals.
    pub rules: &'a dyn ZoneRules,
}

/// The relation that a name in FROM refers to.
#[derive(Clone, Debug)]
pub enum Found {
    /// A table.
    Table(Arc<Table>),
    /// A view.
    View(Arc<View>),
    /// A relation whose rows are computed when it is read: a system catalog or a sequence.
    Computed(Arc<ComputedRelation>),
    /// A relation that this crate cannot read yet, as the error message calls it.
    Other(&'static str),
}

impl Found {
    /// The oid of a table or view.
    pub fn oid(&self) -> Option<TableOid> {
        match self {
            Self::Table(table) => Some(table.oid),
            Self::View(view) => Some(view.oid),
            Self::Computed(_) | Self::Other(_) => None,
        }
    }
}

/// A relation whose rows are computed when it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComputedRelation {
    /// Its schema.
    pub schema: String,
    /// Its name there.
    pub name: String,
    /// Its oid in `pg_class`; zero if it only represents the rows of a function.
    pub oid: u32,
    /// Its columns.
    pub columns: Vec<ComputedColumn>,
}

/// A column of a computed relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComputedColumn {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Ty,
    /// May it be NULL?
    pub nullable: bool,
}

/// A function of the embedding program.
#[derive(Clone, Debug)]
pub struct OwnFunction {
    /// Its name.
    pub name: String,
    /// Types of its arguments.
    pub args: Vec<Ty>,
    /// Type of its result.
    pub returns: Ty,
    /// Can the result differ for the same arguments?
    pub volatile: bool,
}

/// The relations of one version of the catalog.
pub trait Relations {
    /// Returns the relation that a name refers to: in `schema` if there is one, else the first in `path`, and without a
    /// path the first in the session's search path.
    fn find(&self, path: Option<&[String]>, schema: Option<&str>, name: &str) -> Option<Found>;

    /// Returns the columns of a table that the stored query being bound reads, as recorded when it was stored; `None` if
    /// the statement is not a stored query, or does not read the table.
    fn recorded_columns(&self, _table: TableOid) -> Option<&[ColumnId]> {
        None
    }

    /// Returns the schema name of a table, for references such as `s.t.a`.
    fn schema_of(&self, table: &Table) -> Option<String>;

    /// Is there a schema of that name?
    fn has_schema(&self, _name: &str) -> bool {
        true
    }

    /// Returns the table names that hints may suggest.
    fn table_names(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the embedding program's function of that name.
    fn own_function(&self, _name: &str) -> Option<Arc<OwnFunction>> {
        None
    }

    /// Returns a hint about a missing function: why it does not exist, or what to use instead.
    fn hint_for_missing(&self, _name: &str) -> Option<&'static str> {
        None
    }
}
