//! Names in FROM, for the binder: tables and views of one version of the catalog.

use bind::{Found, Relations};
use catalog::{Catalog, RESERVED_SCHEMAS, Table};
use std::sync::Arc;

/// The catalog as a session sees it.
pub(super) struct CatalogRelations<'a> {
    pub(super) catalog: &'a Catalog,
    /// Schemas where names are looked up, `$user` resolved.
    pub(super) path: &'a [String],
}

impl Relations for CatalogRelations<'_> {
    fn find(&self, path: Option<&[String]>, schema: Option<&str>, name: &str) -> Option<Found> {
        match schema {
            Some(schema) => self.in_schema(schema, name),
            // `pg_catalog` is in front of every path, and all its relations are called so.
            None if name.starts_with("pg_") => Some(Found::Other("a relation of a catalog")),
            None => path.unwrap_or(self.path).iter().find_map(|schema| self.in_schema(schema, name)),
        }
    }

    fn schema_of(&self, table: &Table) -> Option<String> {
        Some(self.catalog.schema_name(table).to_owned())
    }
}

impl CatalogRelations<'_> {
    fn in_schema(&self, schema: &str, name: &str) -> Option<Found> {
        if RESERVED_SCHEMAS.contains(&schema) {
            return Some(Found::Other("a relation of a catalog"));
        }
        let table = self.catalog.table(schema, name).map(|table| Found::Table(Arc::clone(table)));
        let view = || self.catalog.view(schema, name).map(|view| Found::View(Arc::clone(view)));
        let sequence = || self.catalog.sequence(schema, name).map(|_| Found::Other("a sequence as a table"));
        table.or_else(view).or_else(sequence)
    }
}
