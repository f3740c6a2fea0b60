//! Names in FROM, for the binder: tables and views of one version of the catalog.

use bind::{Found, Relations};
use catalog::{Catalog, RESERVED_SCHEMAS, Table};
use pg_catalog::PgCatalog;
use query::RustFunctions;
use std::sync::Arc;

/// The catalog as a session sees it.
pub(crate) struct CatalogRelations<'a> {
    pub(super) catalog: &'a Catalog,
    /// Schemas where names are looked up, `$user` resolved.
    pub(super) path: &'a [String],
    /// Those of the embedding program.
    pub(super) functions: &'a RustFunctions,
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

    fn table_names(&self) -> Vec<String> {
        let tables = self.path.iter().flat_map(|schema| self.catalog.tables_in(schema));
        tables.map(|table| table.name.clone()).collect()
    }

    fn has_function(&self, name: &str) -> bool {
        // What is missing on purpose says what to use instead; some that read catalogs are no lines of the table.
        self.functions.get(name).is_some()
            || query::hint_for_missing_function(name).is_some()
            || PgCatalog::has_function(name)
    }
}

impl CatalogRelations<'_> {
    fn in_schema(&self, schema: &str, name: &str) -> Option<Found> {
        if RESERVED_SCHEMAS.contains(&schema) {
            return Some(Found::Other("a relation of a catalog"));
        }
        let found = |table: &Arc<Table>| match table.is_unpopulated() {
            true => Found::Other("a materialized view that is not populated"),
            false => Found::Table(Arc::clone(table)),
        };
        let table = self.catalog.table(schema, name).map(found);
        let view = || self.catalog.view(schema, name).map(|view| Found::View(Arc::clone(view)));
        let sequence = || self.catalog.sequence(schema, name).map(|_| Found::Other("a sequence as a table"));
        // Beside what users make there, this schema has relations that are computed.
        let computed = || (schema == "bennu").then_some(Found::Other("a relation of a catalog"));
        table.or_else(view).or_else(sequence).or_else(computed)
    }
}
