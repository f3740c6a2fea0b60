//! A catalog change in progress: the next version, and what changes in the store. This module has what all changes
//! share.
//!
//! ```text
//!   build          a table from its definition
//!   schemas, tables, relations, indexes, foreign_keys    each kind of object: create, change and drop
//!   alter          changes of a definition in place;  rewrite   changes that rewrite the table's rows
//! ```

mod alter;
pub(crate) mod build;
mod foreign_keys;
mod indexes;
mod links;
mod relations;
mod rewrite;
mod schemas;
mod tables;

pub use alter::is_binary_coercible;
pub use indexes::{ConstraintKind, IndexText, NewIndex, NewIndexExpr, NewIndexPart, NewPartOf, PreparedIndex};
pub use rewrite::PreparedRewrite;
pub use tables::PreparedTable;

use crate::{Catalog, CatalogError, CatalogResult, JobRecord, SchemaId, Table, TableOid};
use std::collections::BTreeSet;
use std::sync::Arc;
use store::{TableChange, TableId};

/// The next version of the catalog, so far. [`Self::catalog`] includes the changes made before, so that several can be
/// made in one draft.
///
/// Nothing is visible to others until [`crate::CatalogCache::change`] has made all of it durable at once.
#[derive(Debug)]
pub struct Draft {
    pub(crate) next: Catalog,
    pub(crate) dirty: Dirty,
    pub(crate) stores: Vec<TableChange>,
    /// Jobs whose records are written with the change.
    pub(crate) jobs: Vec<JobRecord>,
    /// Storages from this id on are created by this draft.
    first_made: u32,
    /// See [`Self::set_search_path`].
    search_path: Vec<String>,
}

/// Objects whose rows must be written, or deleted if the next version lacks the object.
#[derive(Debug, Default)]
pub(crate) struct Dirty {
    pub(crate) schemas: BTreeSet<SchemaId>,
    pub(crate) tables: BTreeSet<TableOid>,
    pub(crate) views: BTreeSet<TableOid>,
    pub(crate) sequences: BTreeSet<TableOid>,
    pub(crate) comments: BTreeSet<u32>,
    pub(crate) staged: BTreeSet<u32>,
}

impl Draft {
    pub(crate) fn new(current: &Catalog) -> Self {
        let mut next = current.clone();
        next.version += 1;
        Self {
            next,
            dirty: Dirty::default(),
            stores: Vec::new(),
            jobs: Vec::new(),
            first_made: current.next_storage,
            search_path: vec![crate::PUBLIC_SCHEMA.to_string()],
        }
    }

    /// Errors qualify the name of a relation with its schema unless this search path finds it.
    pub fn set_search_path(&mut self, search_path: Vec<String>) {
        self.search_path = search_path;
    }

    /// Kind and name of a relation, for errors: see [`Self::set_search_path`].
    pub(crate) fn described(&self, oid: TableOid) -> String {
        self.next.described(oid, &self.search_path)
    }

    /// The catalog with the changes so far.
    pub fn catalog(&self) -> &Catalog {
        &self.next
    }

    /// The table as this draft has it.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`]: dropped since the caller looked it up.
    pub fn table(&self, oid: TableOid) -> CatalogResult<Arc<Table>> {
        self.next.table_by_oid(oid).cloned().ok_or_else(|| CatalogError::dropped(oid.0))
    }

    pub(crate) fn check_name_is_free(&self, schema: &str, name: &str) -> CatalogResult<()> {
        match self.next.has_relation(schema, name) {
            true => Err(CatalogError::DuplicateTable { name: name.to_string() }),
            false => Ok(()),
        }
    }

    /// Inserts `table`, or replaces the table with the same oid, under its present name.
    pub(crate) fn put_table(&mut self, mut table: Table) -> Arc<Table> {
        table.version = self.next.version;
        let table = Arc::new(table);
        self.forget(table.oid);
        let schema = self.next.schemas.values_mut().find(|schema| schema.def.id == table.schema);
        if let Some(schema) = schema {
            schema.tables.insert(table.name.clone(), Arc::clone(&table));
        }
        self.next.tables.insert(table.oid, Arc::clone(&table));
        self.dirty.tables.insert(table.oid);
        table
    }

    fn remove_table(&mut self, table: &Table) {
        table.storages().for_each(|storage| self.drop_storage(storage));
        self.remove_change_log(table);
        self.forget(table.oid);
        self.dirty.tables.insert(table.oid);
    }

    fn forget(&mut self, oid: TableOid) {
        let Some(old) = self.next.tables.remove(&oid) else { return };
        if let Some(schema) = self.next.schemas.values_mut().find(|schema| schema.def.id == old.schema) {
            schema.tables.remove(&old.name);
        }
    }

    /// Drops storage. Storage that this draft would create is just not created.
    pub(crate) fn drop_storage(&mut self, storage: u32) {
        let id = TableId(storage);
        if storage < self.first_made {
            return self.stores.push(TableChange::Drop(id));
        }
        self.stores.retain(|change| !matches!(change, TableChange::Create(spec) if spec.id == id));
    }

    pub(crate) fn take_oid(&mut self) -> CatalogResult<u32> {
        take(&mut self.next.next_oid, "oids")
    }

    fn take_storage(&mut self) -> CatalogResult<u32> {
        take(&mut self.next.next_storage, "storage ids")
    }
}

/// Takes the next id of a counter. Ids are never reused, so the counter may overflow.
fn take(counter: &mut u32, what: &'static str) -> CatalogResult<u32> {
    let id = *counter;
    *counter = id.checked_add(1).ok_or_else(|| CatalogError::TooManyChanges { table: "*".to_string(), what })?;
    Ok(id)
}
