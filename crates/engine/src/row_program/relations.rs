//! Name resolution for the binder: tables and views of one version of the catalog.

use bind::{ComputedColumn, ComputedRelation, Found, OwnFunction, Relations};
use builtins::TypeId;
use catalog::{Catalog, ColumnId, Materialized, RESERVED_SCHEMAS, Table, TableOid, ViewRead};
use pg_catalog::PgCatalog;
use query::RustFunctions;
use std::sync::Arc;

/// How the names of a statement are resolved.
#[derive(Clone, Copy)]
pub(crate) struct Names<'a> {
    /// Schemas where names are looked up, `$user` resolved.
    pub(crate) path: &'a [String],
    /// For a stored query: the relations and columns that it reads.
    pub(crate) reads: &'a [ViewRead],
}

impl<'a> Names<'a> {
    /// The names of a statement.
    pub(crate) fn in_path(path: &'a [String]) -> Self {
        Self { path, reads: &[] }
    }

    /// The names of the query of a materialized view.
    pub(crate) fn of_materialized(view: &'a Materialized) -> Self {
        Self { path: &view.search_path, reads: &view.reads }
    }
}

/// The catalog as a session resolves names in it.
pub(crate) struct CatalogRelations<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) names: Names<'a>,
    /// Functions of the embedding program.
    pub(super) functions: &'a RustFunctions,
}

impl Relations for CatalogRelations<'_> {
    fn find(&self, path: Option<&[String]>, schema: Option<&str>, name: &str) -> Option<Found> {
        match schema {
            Some(schema) => self.in_schema(schema, name),
            None => {
                let path = path.unwrap_or(self.names.path);
                let first = (!path.iter().any(|schema| schema == "pg_catalog")).then_some("pg_catalog");
                let schemas = first.into_iter().chain(path.iter().map(String::as_str));
                let found = || schemas.clone().filter_map(|schema| self.in_schema(schema, name));
                // Relations that were created later do not hide those that a stored query reads.
                let reads = |found: &Found| found.oid().is_some_and(|oid| self.recorded_columns(oid).is_some());
                let read = if self.names.reads.is_empty() { None } else { found().find(reads) };
                read.or_else(|| found().next())
            }
        }
    }

    fn recorded_columns(&self, table: TableOid) -> Option<&[ColumnId]> {
        self.names.reads.iter().find(|read| read.relation == table).map(|read| read.columns.as_slice())
    }

    fn has_schema(&self, name: &str) -> bool {
        RESERVED_SCHEMAS.contains(&name) || self.catalog.schema(name).is_some()
    }

    fn schema_of(&self, table: &Table) -> Option<String> {
        Some(self.catalog.schema_name(table).to_owned())
    }

    fn table_names(&self) -> Vec<String> {
        let tables = self.names.path.iter().flat_map(|schema| self.catalog.tables_in(schema));
        tables.map(|table| table.name.clone()).collect()
    }

    fn own_function(&self, name: &str) -> Option<Arc<OwnFunction>> {
        self.functions.signature(name)
    }

    fn hint_for_missing(&self, name: &str) -> Option<&'static str> {
        query::hint_for_missing_function(name)
    }
}

impl CatalogRelations<'_> {
    fn in_schema(&self, schema: &str, name: &str) -> Option<Found> {
        if let Some(relation) = PgCatalog::relation(schema, name) {
            return Some(Found::Computed(Arc::new(bound_relation(relation))));
        }
        let table = self.catalog.table(schema, name).map(|table| Found::Table(Arc::clone(table)));
        let view = || self.catalog.view(schema, name).map(|view| Found::View(Arc::clone(view)));
        let sequence = || {
            let found = self.catalog.sequence(schema, name)?;
            let relation = PgCatalog::sequence_relation(schema, found);
            Some(Found::Computed(Arc::new(bound_relation(relation))))
        };
        table.or_else(view).or_else(sequence)
    }
}

fn bound_relation(relation: pg_catalog::Relation) -> ComputedRelation {
    let column = |(name, ty, nullable): (String, u32, bool)| ComputedColumn { name, ty: TypeId(ty).into(), nullable };
    let pg_catalog::Relation { schema, name, oid, columns } = relation;
    ComputedRelation { schema, name, oid, columns: columns.into_iter().map(column).collect() }
}
