//! The search path for name look-ups: its existing schemas.
//!
//! A path may name thousands of schemas that do not exist, and a statement thousands of tables. So the existing
//! schemas are found once per version of the catalog, as in PostgreSQL.

use crate::Session;
use crate::error::EngineResult;
use catalog::{Catalog, CatalogError, Table};
use parking_lot::Mutex;
use sql::ObjectName;
use std::sync::Arc;
use types::interrupt;

/// The schema of system tables that have no counterpart in PostgreSQL's catalog.
pub(crate) const SYSTEM_SCHEMA: &str = "bennu";

/// The schemas found last.
#[derive(Debug, Default)]
pub(crate) struct KnownPath(Mutex<Option<Known>>);

#[derive(Debug)]
struct Known {
    /// The value of the setting, which is replaced as a whole.
    path: Arc<Vec<String>>,
    version: u64,
    schemas: Arc<[String]>,
}

impl Session {
    /// The schemas of the search path, existing or not, with `$user` resolved. `$user` does not resolve to the system
    /// schema for a user of that name: its objects must be qualified.
    pub(crate) fn search_path(&self) -> Vec<String> {
        let path = self.settings.effective().search_path.iter();
        let path = path.filter(|name| *name != "$user" || self.user != SYSTEM_SCHEMA);
        path.map(|name| self.schema_named(name).to_owned()).collect()
    }

    /// The schemas of the search path that exist in `catalog`.
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

    /// Whether there is a table, view, sequence or index of that name.
    pub(crate) fn has_relation(&self, catalog: &Catalog, name: &ObjectName) -> bool {
        self.schemas_of(catalog, name).iter().any(|schema| catalog.has_relation(schema, &name.name))
    }

    /// Schemas that may contain an object of that name: the given schema, or those of the search path.
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

/// The qualified name of a table.
pub(crate) fn qualified(catalog: &Catalog, table: &Table) -> ObjectName {
    ObjectName { schema: Some(catalog.schema_name(table).to_string()), ..ObjectName::bare(table.name.clone()) }
}

impl Known {
    fn is_of(&self, path: &Arc<Vec<String>>, catalog: &Catalog) -> bool {
        Arc::ptr_eq(&self.path, path) && self.version == catalog.version()
    }
}

/// Accounts for the look-up of a name in that many schemas: a statement may contain thousands of names.
///
/// # Errors
/// 57014 if the statement is stopped.
pub(crate) fn before_look_up(schemas: usize) -> EngineResult<()> {
    Ok(interrupt::spend(LOOK_UP.saturating_mul(1 + schemas)).map_err(CatalogError::from)?)
}

/// Steps of `types::interrupt` for a look-up in one schema.
const LOOK_UP: usize = 32;
