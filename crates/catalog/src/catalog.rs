//! One version of all definitions: an immutable value.

use crate::comment::Comments;
use crate::{
    CatalogError, CatalogResult, Index, Materialized, SchemaDef, SchemaId, Sequence, Table, TableOid, View, ViewRead,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The one database of a server.
pub const DATABASE_NAME: &str = "bennu";
/// Its oid.
pub const DATABASE_OID: u32 = 5;
/// Reserved schema names: their contents are computed, not stored.
pub const RESERVED_SCHEMAS: [&str; 2] = ["pg_catalog", "information_schema"];
/// The schema of a new database.
pub const PUBLIC_SCHEMA: &str = "public";
/// Its oid, as in PostgreSQL.
pub const PUBLIC_SCHEMA_ID: SchemaId = SchemaId(2200);
/// First oid of user objects, as in PostgreSQL.
pub const FIRST_USER_OID: u32 = 16384;
/// The store's table that holds the rows of the catalog.
pub const SYSTEM_TABLE: store::TableId = store::TableId(1);
/// First storage id of user objects; the catalog itself is in 1.
pub(crate) const FIRST_USER_STORAGE: u32 = 16;
/// Maximum number of columns of a table, as in PostgreSQL.
pub const MAX_COLUMNS: usize = 1600;

/// All definitions at one version. Never changes: hold it as long as the statement runs.
#[derive(Clone, Debug)]
pub struct Catalog {
    pub(crate) version: u64,
    pub(crate) schemas: BTreeMap<String, Schema>,
    pub(crate) tables: BTreeMap<TableOid, Arc<Table>>,
    pub(crate) views: BTreeMap<TableOid, Arc<View>>,
    pub(crate) sequences: BTreeMap<TableOid, Arc<Sequence>>,
    /// By the oid of the commented object.
    pub(crate) comments: BTreeMap<u32, Arc<Comments>>,
    /// Storages of tables that are not published yet.
    pub(crate) staged: BTreeSet<u32>,
    pub(crate) next_oid: u32,
    pub(crate) next_storage: u32,
}

/// A schema and its tables by name.
#[derive(Clone, Debug)]
pub(crate) struct Schema {
    pub(crate) def: SchemaDef,
    pub(crate) tables: BTreeMap<String, Arc<Table>>,
}

impl Catalog {
    /// Version 0: an empty schema `public`.
    pub(crate) fn bootstrap() -> Self {
        let def = SchemaDef { id: PUBLIC_SCHEMA_ID, name: PUBLIC_SCHEMA.to_string() };
        let schemas = BTreeMap::from([(PUBLIC_SCHEMA.to_string(), Schema { def, tables: BTreeMap::new() })]);
        Self {
            version: 0,
            schemas,
            tables: BTreeMap::new(),
            views: BTreeMap::new(),
            sequences: BTreeMap::new(),
            comments: BTreeMap::new(),
            staged: BTreeSet::new(),
            next_oid: FIRST_USER_OID,
            next_storage: FIRST_USER_STORAGE,
        }
    }

    /// Increases by one with every change. Cached plans are keyed by it.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Schemas by name.
    pub fn schemas(&self) -> impl Iterator<Item = &SchemaDef> {
        self.schemas.values().map(|schema| &schema.def)
    }

    /// The schema of that name.
    pub fn schema(&self, name: &str) -> Option<&SchemaDef> {
        self.schemas.get(name).map(|schema| &schema.def)
    }

    /// The schema of that id.
    pub fn schema_by_id(&self, id: SchemaId) -> Option<&SchemaDef> {
        self.schemas().find(|schema| schema.id == id)
    }

    /// The schema of that name, or an error that names it.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchSchema`].
    pub fn must_get_schema(&self, name: &str) -> CatalogResult<&SchemaDef> {
        self.schema(name).ok_or_else(|| CatalogError::NoSuchSchema { name: name.to_string() })
    }

    /// Tables by oid, of all schemas.
    pub fn tables(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.tables.values()
    }

    /// Tables of one schema by name; none if there is no such schema.
    pub fn tables_in(&self, schema: &str) -> impl Iterator<Item = &Arc<Table>> {
        self.schemas.get(schema).into_iter().flat_map(|schema| schema.tables.values())
    }

    /// The table of that name in that schema.
    pub fn table(&self, schema: &str, name: &str) -> Option<&Arc<Table>> {
        self.schemas.get(schema)?.tables.get(name)
    }

    /// The table of that oid.
    pub fn table_by_oid(&self, oid: TableOid) -> Option<&Arc<Table>> {
        self.tables.get(&oid)
    }

    /// Views by oid, of all schemas.
    pub fn views(&self) -> impl Iterator<Item = &Arc<View>> {
        self.views.values()
    }

    /// Materialized views by oid, of all schemas: their tables and their definitions.
    pub fn materialized_views(&self) -> impl Iterator<Item = (&Arc<Table>, &Materialized)> {
        self.tables().filter_map(|table| Some((table, table.materialized.as_ref()?)))
    }

    /// Views and materialized views, each with the relations that its query reads.
    pub fn readers(&self) -> impl Iterator<Item = (TableOid, &[ViewRead])> {
        let views = self.views().map(|view| (view.oid, view.reads.as_slice()));
        views.chain(self.materialized_views().map(|(table, view)| (table.oid, view.reads.as_slice())))
    }

    /// The view of that name in that schema.
    pub fn view(&self, schema: &str, name: &str) -> Option<&Arc<View>> {
        let schema = self.schema(schema)?.id;
        self.views().find(|view| view.schema == schema && view.name == name)
    }

    /// The view of that oid.
    pub fn view_by_oid(&self, oid: TableOid) -> Option<&Arc<View>> {
        self.views.get(&oid)
    }

    /// Sequences by oid, of all schemas.
    pub fn sequences(&self) -> impl Iterator<Item = &Arc<Sequence>> {
        self.sequences.values()
    }

    /// The sequence of that name in that schema.
    pub fn sequence(&self, schema: &str, name: &str) -> Option<&Arc<Sequence>> {
        let schema = self.schema(schema)?.id;
        self.sequences().find(|sequence| sequence.schema == schema && sequence.name == name)
    }

    /// The sequence of that oid.
    pub fn sequence_by_oid(&self, oid: TableOid) -> Option<&Arc<Sequence>> {
        self.sequences.get(&oid)
    }

    /// The index of that name in that schema, and its table.
    pub fn index(&self, schema: &str, name: &str) -> Option<(&Arc<Table>, &Index)> {
        self.tables_in(schema).find_map(|table| Some((table, table.index(name)?)))
    }

    /// Oids of the relations in a schema: tables, views, sequences.
    pub fn relations_in(&self, schema: SchemaId) -> Vec<TableOid> {
        let tables = self.tables().filter(|table| table.schema == schema).map(|table| table.oid);
        let views = self.views().filter(|view| view.schema == schema).map(|view| view.oid);
        let sequences = self.sequences().filter(|sequence| sequence.schema == schema).map(|sequence| sequence.oid);
        tables.chain(views).chain(sequences).collect()
    }

    /// Kind and name of the relation with that oid, schema-qualified unless `search_path` finds the name; empty if
    /// there is none.
    pub fn described(&self, oid: TableOid, search_path: &[String]) -> String {
        let (kind, schema, name) = if let Some(table) = self.table_by_oid(oid) {
            (table.kind(), table.schema, &table.name)
        } else if let Some(view) = self.view_by_oid(oid) {
            ("view", view.schema, &view.name)
        } else if let Some(sequence) = self.sequence_by_oid(oid) {
            ("sequence", sequence.schema, &sequence.name)
        } else {
            return String::new();
        };
        let found_in = search_path.iter().find(|schema| self.has_relation(schema, name));
        match self.schema_by_id(schema) {
            Some(def) if found_in != Some(&def.name) => format!("{kind} {}.{name}", def.name),
            _ => format!("{kind} {name}"),
        }
    }

    /// The table, or an error that names it.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchSchema`], [`CatalogError::NoSuchTable`].
    pub fn must_get_table(&self, schema: &str, name: &str) -> CatalogResult<&Arc<Table>> {
        self.must_get_schema(schema)?;
        self.table(schema, name)
            .ok_or_else(|| CatalogError::NoSuchTable { schema: Some(schema.to_string()), name: name.to_string() })
    }

    /// The table that a statement names: in `schema` if given, else the first match in `search_path`.
    pub fn resolve(&self, search_path: &[String], schema: Option<&str>, name: &str) -> Option<&Arc<Table>> {
        match schema {
            Some(schema) => self.table(schema, name),
            None => search_path.iter().find_map(|schema| self.table(schema, name)),
        }
    }

    /// As [`Self::resolve`], or an error with the name.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`], also when the named schema does not exist (as PostgreSQL does).
    pub fn must_resolve(&self, search_path: &[String], schema: Option<&str>, name: &str) -> CatalogResult<&Arc<Table>> {
        self.resolve(search_path, schema, name)
            .ok_or_else(|| CatalogError::NoSuchTable { schema: schema.map(str::to_string), name: name.to_string() })
    }

    /// The schema that CREATE TABLE without one means: the first of `search_path` that exists.
    pub fn creation_schema(&self, search_path: &[String]) -> Option<&SchemaDef> {
        search_path.iter().find_map(|name| self.schema(name))
    }

    /// Name of the schema that `table` is in.
    pub fn schema_name(&self, table: &Table) -> &str {
        self.schema_by_id(table.schema).map_or("", |schema| schema.name.as_str())
    }

    /// The tables of the store that no table of this catalog refers to.
    pub fn orphans(&self, in_store: impl IntoIterator<Item = store::TableId>) -> Vec<store::TableId> {
        let known: BTreeSet<u32> =
            self.tables().flat_map(|table| table.storages()).chain(self.staged.iter().copied()).collect();
        in_store.into_iter().filter(|id| *id != SYSTEM_TABLE && !known.contains(&id.0)).collect()
    }
}
