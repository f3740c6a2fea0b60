//! What the binder asks of its surroundings.

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
    /// A relation that this crate cannot read yet: a catalog, a sequence.
    Other(&'static str),
}

/// The relations of one version of the catalog.
pub trait Relations {
    /// The relation that a name means: in `schema` if it names one, else the first in `path`, and without a path the
    /// first in the session's.
    fn find(&self, path: Option<&[String]>, schema: Option<&str>, name: &str) -> Option<Found>;

    /// Name of the schema of a table, for references such as `s.t.a`.
    fn schema_of(&self, table: &Table) -> Option<String>;

    /// Names that a table might have been meant by, for hints.
    fn table_names(&self) -> Vec<String> {
        Vec::new()
    }

    /// Is there a function of that name that the table of built-ins does not have: one of the embedding program's?
    fn has_function(&self, _name: &str) -> bool {
        false
    }
}
