//! What the binder asks of its surroundings.

use builtins::Ty;
use catalog::{Table, View};
use std::sync::Arc;
use types::temporal::ZoneRules;

/// The session, as far as the meaning of a statement depends on it. It is part of the key of cached plans.
#[derive(Clone, Copy)]
pub struct Environment<'a> {
    /// The text that the statement was parsed from: positions of errors count in it.
    pub text: &'a str,
    /// Time zone and style, by which literals are read.
    pub rules: &'a dyn ZoneRules,
}

/// What a name in FROM means.
#[derive(Clone, Debug)]
pub enum Found {
    /// A table.
    Table(Arc<Table>),
    /// A view.
    View(Arc<View>),
    /// A relation whose rows are computed when it is read: a catalog, a sequence.
    Computed(Arc<ComputedRelation>),
    /// A relation that this crate cannot read yet.
    Other(&'static str),
}

/// A relation whose rows are computed when it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComputedRelation {
    /// Its schema.
    pub schema: String,
    /// Its name there.
    pub name: String,
    /// Its oid in `pg_class`; zero of what only stands for the rows of a function.
    pub oid: u32,
    /// Its columns.
    pub columns: Vec<ComputedColumn>,
}

/// A column of such a relation.
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
    /// Type of its value.
    pub returns: Ty,
    /// May it give another value for the same arguments?
    pub volatile: bool,
}

/// The relations of one version of the catalog.
pub trait Relations {
    /// The relation that a name means: in `schema` if it names one, else the first in `path`, and without a path the
    /// first in the session's.
    fn find(&self, path: Option<&[String]>, schema: Option<&str>, name: &str) -> Option<Found>;

    /// Name of the schema of a table, for references such as `s.t.a`.
    fn schema_of(&self, table: &Table) -> Option<String>;

    /// Is there a schema of that name?
    fn has_schema(&self, _name: &str) -> bool {
        true
    }

    /// Names that a table might have been meant by, for hints.
    fn table_names(&self) -> Vec<String> {
        Vec::new()
    }

    /// The embedding program's function of that name.
    fn own_function(&self, _name: &str) -> Option<Arc<OwnFunction>> {
        None
    }

    /// Why there is no function of that name, or what to use instead, where people look for one.
    fn hint_for_missing(&self, _name: &str) -> Option<&'static str> {
        None
    }
}
