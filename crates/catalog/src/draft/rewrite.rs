//! Rewrites: all rows of a table with another key or other types, or the entries of some indexes with other columns.
//!
//! Like CREATE TABLE AS, a rewrite has two halves: storage is created and filled while the table definition is
//! unchanged, then the table takes the storage, in one change with the new definition. The caller keeps out all writers
//! during both halves.

use super::PreparedTable;
use super::build::{make_key, row_id_column};
use crate::{Catalog, CatalogError, CatalogResult, Draft, Index, LayoutDef, NewKeyPart, Table, TableOid};
use std::collections::BTreeSet;
use std::sync::Arc;
use types::Datum;

/// A table as it will be, with storage for its rows and indexes that is not visible yet.
#[derive(Clone, Debug)]
pub struct PreparedRewrite {
    table: Arc<Table>,
    staged: Vec<PreparedTable>,
    /// Whether the rows are rewritten, or only entries of indexes.
    rows: bool,
}

impl PreparedRewrite {
    /// The table as it will be published.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// Whether the rows are rewritten. If not, only entries of indexes are.
    pub fn writes_rows(&self) -> bool {
        self.rows
    }

    /// The indexes whose entries are rewritten.
    pub fn indexes(&self) -> impl Iterator<Item = &Index> {
        let is_staged = |storage: u32| self.staged.iter().any(|staged| staged.table().storage == storage);
        self.table.indexes.iter().filter(move |index| is_staged(index.storage))
    }
}

impl Draft {
    /// A draft for inspection, which is never made durable.
    pub fn of(catalog: &Catalog) -> Self {
        Self::new(catalog)
    }

    /// The first half: creates storage for `table`, the future definition of a table of this catalog.
    ///
    /// # Errors
    /// No more storage ids.
    pub fn prepare_rewrite(&mut self, table: &Table) -> CatalogResult<PreparedRewrite> {
        let mut table = table.clone();
        renew_layout(&mut table);
        let mut indexes = std::mem::take(&mut table.indexes);
        let rows = self.stage(table.clone())?;
        table.storage = rows.table().storage;
        let mut staged = vec![rows];
        for index in &mut indexes {
            let entries = self.stage(index.entries(&table))?;
            index.storage = entries.table().storage;
            staged.push(entries);
        }
        table.indexes = indexes;
        Ok(PreparedRewrite { table: Arc::new(table), staged, rows: true })
    }

    /// The first half without the rows: creates storage for the entries of some indexes of `table`, by their oids.
    ///
    /// # Errors
    /// No more storage ids.
    pub fn prepare_entries(&mut self, table: &Table, indexes: &BTreeSet<u32>) -> CatalogResult<PreparedRewrite> {
        let mut table = table.clone();
        let mut all = std::mem::take(&mut table.indexes);
        let mut staged = Vec::with_capacity(indexes.len());
        for index in all.iter_mut().filter(|index| indexes.contains(&index.oid)) {
            let entries = self.stage(index.entries(&table))?;
            index.storage = entries.table().storage;
            staged.push(entries);
        }
        table.indexes = all;
        Ok(PreparedRewrite { table: Arc::new(table), staged, rows: false })
    }

    /// Adds included columns to an index. Its entries must then be rewritten: [`Self::prepare_entries`].
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`], also when the table has no such index; [`CatalogError::NoSuchColumn`].
    pub fn include_columns(&mut self, oid: TableOid, index: u32, names: &[String]) -> CatalogResult<Arc<Table>> {
        let mut table = self.table(oid)?.as_ref().clone();
        let columns =
            names.iter().map(|name| Ok(table.must_get_column(name)?.id)).collect::<CatalogResult<Vec<_>>>()?;
        let found = table.indexes.iter_mut().find(|it| it.oid == index).ok_or_else(|| CatalogError::dropped(index))?;
        let new = columns.into_iter().filter(|column| !found.names(*column)).collect::<Vec<_>>();
        found.include.extend(new);
        Ok(self.put_table(table))
    }

    /// The second half: the table takes the storage. The draft must have made the same changes that it was prepared
    /// with.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`], also for an index that was not prepared.
    pub fn adopt_rewrite(&mut self, prepared: &PreparedRewrite) -> CatalogResult<Arc<Table>> {
        let mut table = self.table(prepared.table.oid)?.as_ref().clone();
        prepared.staged.iter().try_for_each(|staged| self.unstage(staged))?;
        if prepared.rows {
            self.drop_storage(std::mem::replace(&mut table.storage, prepared.table.storage));
            renew_layout(&mut table);
        }
        for index in &mut table.indexes {
            let Some(new) = prepared.table.index(&index.name) else {
                return Err(CatalogError::NoSuchTable { schema: None, name: index.name.clone() });
            };
            if index.storage != new.storage {
                self.drop_storage(std::mem::replace(&mut index.storage, new.storage));
            }
        }
        Ok(self.put_table(table))
    }

    /// Makes the hidden row id of a table visible, in a draft that is only read.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`].
    pub fn show_row_id(&mut self, oid: TableOid) -> CatalogResult<()> {
        let mut table = self.table(oid)?.as_ref().clone();
        table.columns.iter_mut().for_each(|column| column.hidden = false);
        self.put_table(table);
        Ok(())
    }

    /// Drops a prepared rewrite with its storage.
    ///
    /// # Errors
    /// As [`Draft::discard_table`].
    pub fn discard_rewrite(&mut self, prepared: &PreparedRewrite) -> CatalogResult<()> {
        prepared.staged.iter().try_for_each(|staged| self.discard_table(staged))
    }

    /// ADD PRIMARY KEY, to be followed by [`Self::adopt_rewrite`].
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`], [`CatalogError::NoSuchColumn`], [`CatalogError::DuplicateKeyColumn`],
    /// [`CatalogError::SecondPrimaryKey`], [`CatalogError::DuplicateConstraint`], [`CatalogError::InvalidTable`] of a
    /// key column in a family.
    pub fn set_key(&mut self, oid: TableOid, key: &[NewKeyPart], name: Option<String>) -> CatalogResult<Arc<Table>> {
        let old = self.table(oid)?;
        if old.has_primary_key() {
            return Err(CatalogError::SecondPrimaryKey { table: old.name.clone() });
        }
        let mut table = old.as_ref().clone();
        table.columns.retain(|column| !column.hidden);
        table.key = make_key(&table.name, &table.columns, key)?;
        for column in &mut table.columns {
            if table.key.iter().any(|part| part.column == column.id) {
                column.not_null = true;
                if column.family.is_some() {
                    return Err(invalid(&old, format!("key column \"{}\" cannot be in a column family", column.name)));
                }
            }
        }
        let name = name.unwrap_or_else(|| format!("{}_pkey", table.name));
        if table.is_constraint(&name) {
            return Err(CatalogError::DuplicateConstraint { table: table.name.clone(), constraint: name });
        }
        table.key_name = Some(name);
        table.key_oid = Some(self.take_oid()?);
        Ok(self.put_table(table))
    }

    /// DROP CONSTRAINT of the primary key, to be followed by [`Self::adopt_rewrite`]: the table gets a hidden row id.
    /// Returns kind and name of the dependent objects that were dropped.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`], [`CatalogError::DependentObjects`].
    pub fn drop_key(&mut self, oid: TableOid, cascade: bool) -> CatalogResult<Vec<String>> {
        let old = self.table(oid)?;
        let name = old.key_name.clone().unwrap_or_default();
        let what = format!("constraint {name} on {}", self.described(oid));
        let others = self.release_parent(oid, old.key_oid, &BTreeSet::new(), (&what, cascade))?;
        let mut table = self.table(oid)?.as_ref().clone();
        table.columns.insert(0, row_id_column());
        table.key = make_key(&table.name, &table.columns, &[])?;
        (table.key_name, table.key_oid) = (None, None);
        table.splits.clear();
        self.put_table(table);
        Ok(others)
    }
}

/// Resets the layouts: all rows are rewritten with the present columns of the table.
fn renew_layout(table: &mut Table) {
    let columns = table.value_columns().map(|column| (column.id, column.ty)).collect();
    table.layouts = vec![LayoutDef { id: 1, columns }];
    table.columns.iter_mut().for_each(|column| column.missing = Datum::Null);
}

fn invalid(table: &Table, reason: impl Into<String>) -> CatalogError {
    CatalogError::InvalidTable { table: table.name.clone(), reason: reason.into() }
}
