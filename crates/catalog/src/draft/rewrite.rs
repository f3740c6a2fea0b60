//! Rows that are written anew: with another key, or with other types in it or behind it.
//!
//! As CREATE TABLE AS it has two halves: storage is made and filled while the table is as it was, then the table takes it,
//! in one change with what the storage was made for. The caller keeps all writers out from before the first to behind the
//! second.

use super::PreparedTable;
use super::build::{make_key, row_id_column};
use crate::{Catalog, CatalogError, CatalogResult, Draft, LayoutDef, NewKeyPart, Table, TableOid};
use std::collections::BTreeSet;
use std::sync::Arc;
use types::Datum;

/// A table as it will be, with storage for its rows and its indexes that nobody sees yet.
#[derive(Clone, Debug)]
pub struct PreparedRewrite {
    table: Arc<Table>,
    staged: Vec<PreparedTable>,
}

impl PreparedRewrite {
    /// As it will be.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }
}

impl Draft {
    /// Changes that are only looked at: this draft is never made durable.
    pub fn of(catalog: &Catalog) -> Self {
        Self::new(catalog)
    }

    /// The first half: storage for `table`, a table of this catalog as it will be.
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
        Ok(PreparedRewrite { table: Arc::new(table), staged })
    }

    /// The second half, behind the same changes of the table that it was prepared for: it takes the storage.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`], also for an index that it was not prepared with.
    pub fn adopt_rewrite(&mut self, prepared: &PreparedRewrite) -> CatalogResult<Arc<Table>> {
        let mut table = self.table(prepared.table.oid)?.as_ref().clone();
        prepared.staged.iter().try_for_each(|staged| self.unstage(staged))?;
        let old: Vec<u32> = table.row_storages().collect();
        old.into_iter().for_each(|storage| self.drop_storage(storage));
        renew_layout(&mut table);
        table.storage = prepared.table.storage;
        for index in &mut table.indexes {
            let Some(new) = prepared.table.index(&index.name) else {
                return Err(CatalogError::NoSuchTable { schema: None, name: index.name.clone() });
            };
            index.storage = new.storage;
        }
        Ok(self.put_table(table))
    }

    /// Gives it up: its storage goes away.
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
    /// [`CatalogError::InvalidTable`] of a table that has a key, [`CatalogError::DuplicateConstraint`].
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

    /// DROP CONSTRAINT of the primary key, to be followed by [`Self::adopt_rewrite`]: the table gets a hidden row id. Returns
    /// what else was dropped, kind and name.
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

/// All rows are written with the columns that the table has now.
fn renew_layout(table: &mut Table) {
    let columns = table.value_columns().map(|column| (column.id, column.ty)).collect();
    table.layouts = vec![LayoutDef { id: 1, columns }];
    table.columns.iter_mut().for_each(|column| column.missing = Datum::Null);
}

fn invalid(table: &Table, reason: impl Into<String>) -> CatalogError {
    CatalogError::InvalidTable { table: table.name.clone(), reason: reason.into() }
}
