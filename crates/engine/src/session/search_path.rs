//! The search path as names are looked up in it: the schemas of it that there are.
//!
//! A path may name thousands of schemas that do not exist, and a statement thousands of tables. So it is looked through
//! once for a version of the catalog, as PostgreSQL does.

use crate::Session;
use crate::error::EngineResult;
use catalog::{Catalog, CatalogError, Table};
use parking_lot::Mutex;
use sql::ObjectName;
use std::sync::Arc;
use types::interrupt;

/// The schema of what PostgreSQL has no catalog for.
pub(crate) const SYSTEM_SCHEMA: &str = "bennu";

/// What was found last.
#[derive(Debug, Default)]
pub(crate) struct KnownPath(Mutex<Option<Known>>);

#[derive(Debug)]
struct Known {
    /// The setting, which is replaced as a whole.
    path: Arc<Vec<String>>,
    version: u64,
    schemas: Arc<[String]>,
}

impl Session {
    /// Schemas where names are looked up, `$user` resolved, whether they exist or not. The system's own schema is not that of a
    /// user who is called so: what is in it is named with the schema.
    pub(crate) fn search_path(&self) -> Vec<String> {
        let path = self.settings.effective().search_path.iter();
        let path = path.filter(|name| *name != "$user" || self.user != SYSTEM_SCHEMA);
        path.map(|name| self.schema_named(name).to_owned()).collect()
    }

    /// Those of them that `catalog` has.
    pub(crate) fn schemas_in(&self, catalog: &Catalog) -> Arc<[String]> {
        let path = &self.settings.effective().search_path;
        let mut known = self.known_path.0.lock();
        if let Some(known) = known.as_ref().filter(|known| known.is_of(path, catalog)) {
            return Arc::clone(&known.schemas);
        }
        let named = path.iter().map(|name| self.schema_named(name));
        let schemas: Arc<[String]> = named.filter(|name| catalog.schema(name).is_some()).map(str::to_owned).collect();
        *known = Some(Known { path: Arc::clone(path), version: catalog.version(), schemas: Arc::clone(&schemas) });
        schemas
    }

    /// Is there a table, view, sequence or index of that name?
    pub(crate) fn has_relation(&self, catalog: &Catalog, name: &ObjectName) -> bool {
        self.schemas_of(catalog, name).iter().any(|schema| catalog.has_relation(schema, &name.name))
    }

    /// Schemas where an object of that name may be: the one that is named, or those of the search path.
    pub(crate) fn schemas_of(&self, catalog: &Catalog, name: &ObjectName) -> Arc<[String]> {
        match &name.schema {
            Some(schema) => [schema.clone()].into(),
            None => self.schemas_in(catalog),
        }
    }

    fn schema_named<'a>(&'a self, name: &'a str) -> &'a str {
        if name == "$user" { &self.user } else { name }
    }
}

/// The name of a table with its schema.
pub(crate) fn qualified(catalog: &Catalog, table: &Table) -> ObjectName {
    ObjectName { schema: Some(catalog.schema_name(table).to_string()), ..ObjectName::bare(table.name.clone()) }
}

impl Known {
    fn is_of(&self, path: &Arc<Vec<String>>, catalog: &Catalog) -> bool {
        Arc::ptr_eq(&self.path, path) && self.version == catalog.version()
    }
}

/// Before a name is looked up in so many schemas: a statement may have thousands of names.
///
/// # Errors
/// 57014 when the statement is stopped.
pub(crate) fn before_look_up(schemas: usize) -> EngineResult<()> {
    Ok(interrupt::spend(LOOK_UP.saturating_mul(1 + schemas)).map_err(CatalogError::from)?)
}

/// What looking into a schema costs, as `types::interrupt` counts it.
const LOOK_UP: usize = 32;
