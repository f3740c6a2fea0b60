//! A change of the catalog under way: the next version, and what differs in the store.

use crate::build::build_table;
use crate::catalog::{RESERVED_SCHEMAS, Schema};
use crate::definition::NewTable;
use crate::{Catalog, CatalogError, CatalogResult, JobRecord, SchemaDef, SchemaId, Table, TableOid};
use std::collections::BTreeSet;
use std::sync::Arc;
use store::{Bytes, FamilyId, FamilySpec, TableChange, TableId, TableSpec};

/// The next version of the catalog, as far as it is made. [`Self::catalog`] already holds the changes
/// before it, so several may be made at once.
///
/// Nothing is seen by others until [`crate::CatalogCache::change`] has made all of it durable at once.
#[derive(Debug)]
pub struct Draft {
    pub(crate) next: Catalog,
    pub(crate) dirty: Dirty,
    pub(crate) stores: Vec<TableChange>,
    /// Jobs whose records change with it.
    pub(crate) jobs: Vec<JobRecord>,
    /// Storages from this one on are made by this draft.
    first_made: u32,
    /// See [`Self::show_names_from`].
    search_path: Vec<String>,
}

/// Objects whose rows are to be written again, or deleted when the next version lacks them.
#[derive(Debug, Default)]
pub(crate) struct Dirty {
    pub(crate) schemas: BTreeSet<SchemaId>,
    pub(crate) tables: BTreeSet<TableOid>,
    pub(crate) views: BTreeSet<TableOid>,
    pub(crate) sequences: BTreeSet<TableOid>,
    pub(crate) comments: BTreeSet<u32>,
    pub(crate) staged: BTreeSet<u32>,
}

/// A table that has storage but no name yet: for CREATE TABLE AS, whose rows are loaded into
/// [`Table::storage_id`] before [`Draft::publish_table`] shows it.
///
/// If the process dies in between, the storage is dropped when the catalog is opened again.
#[derive(Clone, Debug)]
pub struct PreparedTable {
    pub(crate) table: Arc<Table>,
}

impl PreparedTable {
    /// As it will be.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }
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

    /// What names of others are shown by: those that are found without their schema are shown without it.
    pub fn show_names_from(&mut self, search_path: Vec<String>) {
        self.search_path = search_path;
    }

    /// Kind and name of a relation, as one says it who has the draft's search path.
    pub(crate) fn described(&self, oid: TableOid) -> String {
        self.next.described(oid, &self.search_path)
    }

    /// The catalog with the changes so far.
    pub fn catalog(&self) -> &Catalog {
        &self.next
    }

    /// CREATE SCHEMA.
    ///
    /// # Errors
    /// [`CatalogError::DuplicateSchema`], [`CatalogError::ReservedName`].
    pub fn create_schema(&mut self, name: &str) -> CatalogResult<SchemaDef> {
        check_schema_name(name)?;
        if self.next.schemas.contains_key(name) {
            return Err(CatalogError::DuplicateSchema { name: name.to_string() });
        }
        let def = SchemaDef { id: SchemaId(self.take_oid()?), name: name.to_string() };
        self.dirty.schemas.insert(def.id);
        self.next.schemas.insert(name.to_string(), Schema { def: def.clone(), tables: Default::default() });
        Ok(def)
    }

    /// DROP SCHEMA; with `cascade` also what is in it.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchSchema`], [`CatalogError::DependentObjects`], [`CatalogError::ReservedName`].
    pub fn drop_schema(&mut self, name: &str, cascade: bool) -> CatalogResult<()> {
        if RESERVED_SCHEMAS.contains(&name) {
            check_schema_name(name)?;
        }
        let id = self.schema_entry(name)?.def.id;
        let inside = self.next.relations_in(id);
        if !cascade && !inside.is_empty() {
            return Err(CatalogError::DependentObjects {
                what: format!("schema {name}"),
                dependents: inside.iter().map(|oid| self.described(*oid)).collect(),
            });
        }
        self.drop_relations(&inside, true)?;
        self.next.schemas.remove(name);
        self.dirty.schemas.insert(id);
        Ok(())
    }

    /// ALTER SCHEMA … RENAME TO.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchSchema`], [`CatalogError::DuplicateSchema`], [`CatalogError::ReservedName`];
    /// [`CatalogError::Unsupported`] when views read what is in it: their text has its name.
    pub fn rename_schema(&mut self, name: &str, to: &str) -> CatalogResult<()> {
        check_schema_name(name)?;
        let id = self.schema_entry(name)?.def.id;
        check_schema_name(to)?;
        if self.next.schemas.contains_key(to) {
            return Err(CatalogError::DuplicateSchema { name: to.to_string() });
        }
        let inside: BTreeSet<TableOid> = self.next.relations_in(id).into_iter().collect();
        let reader = self.next.readers().find(|(_, reads)| reads.iter().any(|it| inside.contains(&it.relation)));
        if let Some(view) = reader.map(|(view, _)| view) {
            let feature = format!("renaming schema {name}, which {} reads", self.described(view));
            return Err(CatalogError::Unsupported { feature });
        }
        if let Some(mut schema) = self.next.schemas.remove(name) {
            schema.def.name = to.to_string();
            self.next.schemas.insert(to.to_string(), schema);
            self.dirty.schemas.insert(id);
        }
        Ok(())
    }

    /// CREATE TABLE: its definition and its storage.
    ///
    /// # Errors
    /// All that can be wrong with a definition, [`CatalogError::NoSuchSchema`], [`CatalogError::DuplicateTable`].
    pub fn create_table(&mut self, new: NewTable) -> CatalogResult<Arc<Table>> {
        let mut table = self.build(new)?;
        table.storage = self.take_storage()?;
        self.stores.push(TableChange::Create(store_spec(&table)));
        Ok(self.put_table(table))
    }

    /// The first half of CREATE TABLE AS: storage without a name. See [`PreparedTable`].
    ///
    /// # Errors
    /// As [`Self::create_table`].
    pub fn prepare_table(&mut self, new: NewTable) -> CatalogResult<PreparedTable> {
        let table = self.build(new)?;
        self.stage(table)
    }

    /// Storage of its own for a table that nobody sees yet.
    pub(crate) fn stage(&mut self, mut table: Table) -> CatalogResult<PreparedTable> {
        table.storage = self.take_storage()?;
        self.stores.push(TableChange::Create(store_spec(&table)));
        self.next.staged.insert(table.storage);
        self.dirty.staged.insert(table.storage);
        Ok(PreparedTable { table: Arc::new(table) })
    }

    /// The second half: the table gets its name and is seen.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchSchema`] and [`CatalogError::DuplicateTable`] when that changed since it was
    /// prepared; [`CatalogError::NoSuchTable`] when it was published or discarded before.
    pub fn publish_table(&mut self, prepared: &PreparedTable) -> CatalogResult<Arc<Table>> {
        let table = prepared.table.as_ref();
        let Some(schema) = self.next.schema_by_id(table.schema).map(|schema| schema.name.clone()) else {
            return Err(CatalogError::NoSuchSchema { name: format!("of oid {}", table.schema.0) });
        };
        self.check_name_is_free(&schema, &table.name)?;
        self.unstage(prepared)?;
        Ok(self.put_table(table.clone()))
    }

    /// Gives a prepared table up: its storage goes away.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`] when it was published or discarded before.
    pub fn discard_table(&mut self, prepared: &PreparedTable) -> CatalogResult<()> {
        self.unstage(prepared)?;
        self.drop_storage(prepared.table.storage);
        Ok(())
    }

    /// DROP TABLE: its definition and its rows.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`].
    pub fn drop_table(&mut self, oid: TableOid) -> CatalogResult<()> {
        let table = self.table(oid)?;
        self.remove_table(&table);
        Ok(())
    }

    /// TRUNCATE: new storage with the same region borders; the old one goes away.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`].
    pub fn truncate(&mut self, oid: TableOid) -> CatalogResult<Arc<Table>> {
        let mut table = self.table(oid)?.as_ref().clone();
        self.drop_storage(table.storage);
        table.storage = self.take_storage()?;
        self.stores.push(TableChange::Create(store_spec(&table)));
        self.truncate_indexes(&mut table)?;
        self.truncate_change_logs(&mut table)?;
        Ok(self.put_table(table))
    }

    /// New storage for each index of a table that is emptied.
    fn truncate_indexes(&mut self, table: &mut Table) -> CatalogResult<()> {
        let mut indexes = std::mem::take(&mut table.indexes);
        for index in &mut indexes {
            self.drop_storage(index.storage);
            index.storage = self.new_storage(&index.entries(table))?;
        }
        table.indexes = indexes;
        Ok(())
    }

    /// Storage for what a table of this shape holds.
    pub(crate) fn new_storage(&mut self, shape: &Table) -> CatalogResult<u32> {
        let storage = self.take_storage()?;
        let spec = TableSpec { id: store::TableId(storage), ..store_spec(shape) };
        self.stores.push(TableChange::Create(spec));
        Ok(storage)
    }

    /// The table as this draft has it.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`]: dropped since the caller looked it up.
    pub fn table(&self, oid: TableOid) -> CatalogResult<Arc<Table>> {
        self.next
            .table_by_oid(oid)
            .cloned()
            .ok_or_else(|| CatalogError::NoSuchTable { schema: None, name: format!("of oid {}", oid.0) })
    }

    fn build(&mut self, new: NewTable) -> CatalogResult<Table> {
        let schema = self.schema_entry(&new.schema)?.def.id;
        self.check_name_is_free(&new.schema, &new.name)?;
        let mut table = build_table(new, schema)?;
        table.oid = TableOid(self.take_oid()?);
        if !table.has_hidden_row_id() {
            table.key_oid = Some(self.take_oid()?);
        }
        self.take_check_oids(&mut table)?;
        table.version = self.next.version;
        Ok(table)
    }

    pub(crate) fn schema_entry(&self, name: &str) -> CatalogResult<&Schema> {
        self.next.schemas.get(name).ok_or_else(|| {
            if RESERVED_SCHEMAS.contains(&name) {
                reserved_schema(name, "it belongs to the system")
            } else {
                CatalogError::NoSuchSchema { name: name.to_string() }
            }
        })
    }

    pub(crate) fn check_name_is_free(&self, schema: &str, name: &str) -> CatalogResult<()> {
        let next = &self.next;
        let taken = next.table(schema, name).is_some()
            || next.view(schema, name).is_some()
            || next.sequence(schema, name).is_some()
            || next.index(schema, name).is_some()
            // The index of a key is the table itself, and its name is one of a relation all the same.
            || next.tables_in(schema).any(|table| table.key_name.as_deref() == Some(name));
        if taken { Err(CatalogError::DuplicateTable { name: name.to_string() }) } else { Ok(()) }
    }

    /// Puts `table` in place of what has its oid, under its present name.
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

    /// Drops storage; what this draft itself would make is just not made.
    pub(crate) fn drop_storage(&mut self, storage: u32) {
        let id = TableId(storage);
        if storage < self.first_made {
            return self.stores.push(TableChange::Drop(id));
        }
        self.stores.retain(|change| !matches!(change, TableChange::Create(spec) if spec.id == id));
    }

    pub(crate) fn unstage(&mut self, prepared: &PreparedTable) -> CatalogResult<()> {
        let storage = prepared.table.storage;
        if !self.next.staged.remove(&storage) {
            return Err(CatalogError::NoSuchTable { schema: None, name: prepared.table.name.clone() });
        }
        self.dirty.staged.insert(storage);
        Ok(())
    }

    pub(crate) fn take_oid(&mut self) -> CatalogResult<u32> {
        take(&mut self.next.next_oid, "oids")
    }

    fn take_storage(&mut self) -> CatalogResult<u32> {
        take(&mut self.next.next_storage, "storage ids")
    }
}

/// The next id of a counter; ids are never used again, so the counter may run out.
fn take(counter: &mut u32, what: &'static str) -> CatalogResult<u32> {
    let id = *counter;
    *counter = id.checked_add(1).ok_or_else(|| CatalogError::TooManyChanges { table: "*".to_string(), what })?;
    Ok(id)
}

fn check_schema_name(name: &str) -> CatalogResult<()> {
    if name.starts_with("pg_") {
        return Err(reserved_schema(name, "the prefix \"pg_\" is reserved for system schemas"));
    }
    if RESERVED_SCHEMAS.contains(&name) {
        return Err(reserved_schema(name, "it belongs to the system"));
    }
    Ok(())
}

fn reserved_schema(name: &str, reason: &'static str) -> CatalogError {
    CatalogError::ReservedName { what: "schema", name: name.to_string(), reason }
}

/// What the store is told to make: one family, and a region for each salt bucket and split point.
fn store_spec(table: &Table) -> TableSpec {
    let families = vec![FamilySpec::new(FamilyId(0))];
    TableSpec { id: table.storage_id(), families, splits: region_borders(table.salt_buckets, &table.splits) }
}

fn region_borders(salt_buckets: Option<u16>, splits: &[Vec<u8>]) -> Vec<Bytes> {
    let Some(buckets) = salt_buckets else {
        return splits.iter().cloned().map(Bytes::from).collect();
    };
    let mut borders = Vec::new();
    // At most 256 buckets: the salt is one byte.
    for bucket in (0..=u8::MAX).take(usize::from(buckets)) {
        if bucket > 0 {
            borders.push(Bytes::from(vec![bucket]));
        }
        for split in splits {
            borders.push([&[bucket], split.as_slice()].concat().into());
        }
    }
    borders
}
