//! ADD PRIMARY KEY: rows are where their keys say, so a table that gets a key gets new storage.
//!
//! As CREATE TABLE AS it has two halves: the storage is made and filled while the table is as it was, then the table
//! takes it. The caller keeps all writers out from before the first to behind the second.

use crate::build::make_key;
use crate::draft::PreparedTable;
use crate::{CatalogError, CatalogResult, Draft, LayoutDef, NewKeyPart, Table, TableOid};
use std::sync::Arc;

impl Draft {
    /// The first half: the table as it will be, with empty storage, without a name yet.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`], [`CatalogError::NoSuchColumn`], [`CatalogError::DuplicateKeyColumn`],
    /// [`CatalogError::InvalidTable`] of a table that has a key, [`CatalogError::DuplicateConstraint`].
    pub fn prepare_key(
        &mut self,
        oid: TableOid,
        key: &[NewKeyPart],
        name: Option<String>,
    ) -> CatalogResult<PreparedTable> {
        let old = self.keyless(oid)?;
        if !old.indexes.is_empty() {
            let feature = format!("adding a primary key to table \"{}\", which has indexes", old.name);
            return Err(CatalogError::Unsupported { feature });
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
        if table.check(&name).is_some() {
            return Err(CatalogError::DuplicateConstraint { table: table.name.clone(), constraint: name });
        }
        table.key_name = Some(name);
        table.key_oid = Some(self.take_oid()?);
        let value_columns = table.value_columns().map(|column| (column.id, column.ty)).collect();
        table.layouts = vec![LayoutDef { id: 1, columns: value_columns }];
        self.stage(table)
    }

    /// The second half: the table has the key, and the rows that its storage was filled with.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`] and [`CatalogError::InvalidTable`] when the table changed since.
    pub fn publish_key(&mut self, prepared: &PreparedTable) -> CatalogResult<Arc<Table>> {
        let old = self.keyless(prepared.table().oid)?;
        self.unstage(prepared)?;
        self.drop_storage(old.storage);
        let table = Table { name: old.name.clone(), schema: old.schema, ..prepared.table().as_ref().clone() };
        Ok(self.put_table(table))
    }

    fn keyless(&self, oid: TableOid) -> CatalogResult<Arc<Table>> {
        let table = self.table(oid)?;
        if table.has_hidden_row_id() { Ok(table) } else { Err(invalid(&table, "it has a primary key")) }
    }
}

fn invalid(table: &Table, reason: impl Into<String>) -> CatalogError {
    CatalogError::InvalidTable { table: table.name.clone(), reason: reason.into() }
}
