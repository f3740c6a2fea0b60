//! Tables in a catalog change, and their storage.

use super::Draft;
use super::build::build_table;
use crate::definition::NewTable;
use crate::{CatalogError, CatalogResult, Table, TableOid};
use std::sync::Arc;
use store::{Bytes, FamilyId, FamilySpec, TableChange, TableSpec};

/// A table with storage but without a name: for CREATE TABLE AS, which loads rows into [`Table::storage_id`] before
/// [`Draft::publish_table`] makes the table visible.
///
/// If the process dies in between, the storage is dropped when the catalog is opened again.
#[derive(Clone, Debug)]
pub struct PreparedTable {
    pub(crate) table: Arc<Table>,
}

impl PreparedTable {
    /// The table as it will be published.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }
}

impl Draft {
    /// CREATE TABLE: creates the definition and the storage.
    ///
    /// # Errors
    /// The errors of an invalid definition, [`CatalogError::NoSuchSchema`], [`CatalogError::DuplicateTable`].
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

    /// Creates storage for a table that is not visible yet.
    pub(crate) fn stage(&mut self, mut table: Table) -> CatalogResult<PreparedTable> {
        table.storage = self.take_storage()?;
        self.stores.push(TableChange::Create(store_spec(&table)));
        self.next.staged.insert(table.storage);
        self.dirty.staged.insert(table.storage);
        Ok(PreparedTable { table: Arc::new(table) })
    }

    /// The second half: the table gets its name and becomes visible.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchSchema`] and [`CatalogError::DuplicateTable`] after a change since it was prepared;
    /// [`CatalogError::NoSuchTable`] if it was already published or discarded.
    pub fn publish_table(&mut self, prepared: &PreparedTable) -> CatalogResult<Arc<Table>> {
        let table = prepared.table.as_ref();
        let Some(schema) = self.next.schema_by_id(table.schema).map(|schema| schema.name.clone()) else {
            return Err(CatalogError::NoSuchSchema { name: format!("of oid {}", table.schema.0) });
        };
        self.check_name_is_free(&schema, &table.name)?;
        self.unstage(prepared)?;
        Ok(self.put_table(table.clone()))
    }

    /// Drops a prepared table with its storage.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`] if it was already published or discarded.
    pub fn discard_table(&mut self, prepared: &PreparedTable) -> CatalogResult<()> {
        self.unstage(prepared)?;
        self.drop_storage(prepared.table.storage);
        Ok(())
    }

    /// DROP TABLE: drops the definition and the rows.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`].
    pub fn drop_table(&mut self, oid: TableOid) -> CatalogResult<()> {
        let table = self.table(oid)?;
        self.remove_table(&table);
        Ok(())
    }

    /// TRUNCATE: new storage with the same region boundaries; the old storage is dropped.
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

    /// New storage for each index of a table that is truncated.
    fn truncate_indexes(&mut self, table: &mut Table) -> CatalogResult<()> {
        let mut indexes = std::mem::take(&mut table.indexes);
        for index in &mut indexes {
            self.drop_storage(index.storage);
            index.storage = self.new_storage(&index.entries(table))?;
        }
        table.indexes = indexes;
        Ok(())
    }

    /// Creates storage for the rows of a table like `shape`.
    pub(crate) fn new_storage(&mut self, shape: &Table) -> CatalogResult<u32> {
        let storage = self.take_storage()?;
        let spec = TableSpec { id: store::TableId(storage), ..store_spec(shape) };
        self.stores.push(TableChange::Create(spec));
        Ok(storage)
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

    pub(crate) fn unstage(&mut self, prepared: &PreparedTable) -> CatalogResult<()> {
        let storage = prepared.table.storage;
        if !self.next.staged.remove(&storage) {
            return Err(CatalogError::NoSuchTable { schema: None, name: prepared.table.name.clone() });
        }
        self.dirty.staged.insert(storage);
        Ok(())
    }
}

/// The store's table: one family, and a region for each salt bucket and split point.
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
