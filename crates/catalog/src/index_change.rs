//! Indexes in a change of the catalog.
//!
//! As CREATE TABLE AS, making an index has two halves: storage is made and filled while the table is as it was, then the
//! table has the index. The caller keeps all writers out from before the first to behind the second.

use crate::draft::PreparedTable;
use crate::index::key_keeps_value;
use crate::{CatalogError, CatalogResult, ColumnId, Draft, Index, IndexPart, IndexState, Table, TableOid};
use std::collections::BTreeSet;
use std::sync::Arc;

/// An index to be made.
#[derive(Clone, Debug, Default)]
pub struct NewIndex {
    /// `None` is PostgreSQL's choice: `<table>_<columns>_idx`, of a constraint `<table>_<columns>_key`.
    pub name: Option<String>,
    /// See [`Index::unique`].
    pub unique: bool,
    /// See [`Index::nulls_not_distinct`].
    pub nulls_not_distinct: bool,
    /// Does it belong to a UNIQUE constraint, which has its name?
    pub constraint: bool,
    /// What is indexed, in order.
    pub parts: Vec<NewIndexPart>,
    /// Names of included columns.
    pub include: Vec<String>,
    /// 2 to 256.
    pub salt_buckets: Option<u16>,
    /// See [`Index::deferrable`].
    pub deferrable: bool,
    /// See [`Index::deferred`].
    pub deferred: bool,
}

/// One part of an index to be made.
#[derive(Clone, Debug)]
pub struct NewIndexPart {
    /// Name of the column.
    pub column: String,
    /// Sorted from large to small.
    pub descending: bool,
    /// Do NULLs sort before all values?
    pub nulls_first: bool,
}

/// An index that has storage, which nobody sees yet.
#[derive(Clone, Debug)]
pub struct PreparedIndex {
    index: Index,
    table: Arc<Table>,
    entries: PreparedTable,
}

impl PreparedIndex {
    /// As it will be.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// The table as it will be, with the index.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// Its entries as a table: see [`Index::entries`].
    pub fn entries(&self) -> &Arc<Table> {
        self.entries.table()
    }
}

impl Draft {
    /// The first half of CREATE INDEX: its storage is to be filled from the table's rows.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`], [`CatalogError::NoSuchColumn`], [`CatalogError::DuplicateTable`] when the name is
    /// taken, [`CatalogError::DuplicateConstraint`].
    pub fn prepare_index(&mut self, oid: TableOid, new: NewIndex) -> CatalogResult<PreparedIndex> {
        let mut table = self.table(oid)?.as_ref().clone();
        let name = self.index_name(&table, &new)?;
        let parts = new.parts.iter().map(|part| take_part(&mut table, part)).collect::<CatalogResult<_>>()?;
        let include = new.include.iter().map(|name| visible(&table, name)).collect::<CatalogResult<_>>()?;
        let mut index = Index {
            oid: self.take_oid()?,
            name,
            storage: 0,
            unique: new.unique,
            nulls_not_distinct: new.nulls_not_distinct,
            constraint: if new.constraint { Some(self.take_oid()?) } else { None },
            parts,
            include,
            salt_buckets: new.salt_buckets,
            deferrable: new.deferrable,
            deferred: new.deferred,
            state: IndexState::Public,
        };
        let entries = self.stage(index.entries(&table))?;
        index.storage = entries.table().storage;
        table.indexes.push(index.clone());
        Ok(PreparedIndex { index, table: Arc::new(table), entries })
    }

    /// The second half: the table has the index.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`], [`CatalogError::NoSuchColumn`] and [`CatalogError::DuplicateTable`] when that changed
    /// since it was prepared.
    pub fn publish_index(&mut self, prepared: &PreparedIndex) -> CatalogResult<Arc<Table>> {
        self.publish_index_as(prepared, prepared.index.clone())
    }

    /// As [`Self::publish_index`], with something about the index changed.
    pub(crate) fn publish_index_as(&mut self, prepared: &PreparedIndex, index: Index) -> CatalogResult<Arc<Table>> {
        let mut table = self.table(prepared.table.oid)?.as_ref().clone();
        self.check_name_is_free(self.next.schema_name(&table), &index.name)?;
        if let Some(gone) = prepared.table.columns.iter().find(|it| index.names(it.id) && table.column(it.id).is_none())
        {
            return Err(CatalogError::NoSuchColumn { table: table.name.clone(), column: gone.name.clone() });
        }
        self.unstage(&prepared.entries)?;
        table.next_column = table.next_column.max(prepared.table.next_column);
        table.indexes.push(index);
        Ok(self.put_table(table))
    }

    /// Gives a prepared index up: its storage goes away.
    ///
    /// # Errors
    /// As [`Draft::discard_table`].
    pub fn discard_index(&mut self, prepared: &PreparedIndex) -> CatalogResult<()> {
        self.discard_table(&prepared.entries)
    }

    /// The first half of REINDEX: the index gets other storage, to be filled from the table's rows.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`], also when the table has no such index.
    pub fn prepare_reindex(&mut self, table: TableOid, index: u32) -> CatalogResult<PreparedIndex> {
        let mut table = self.table(table)?.as_ref().clone();
        let Some(old) = table.indexes.iter().find(|it| it.oid == index) else { return Err(no_index(index)) };
        let mut index = old.clone();
        let entries = self.stage(index.entries(&table))?;
        index.storage = entries.table().storage;
        table.indexes.iter_mut().filter(|it| it.oid == index.oid).for_each(|it| it.storage = index.storage);
        Ok(PreparedIndex { index, table: Arc::new(table), entries })
    }

    /// The second half: the index has the new storage, the old one goes away.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`] when the table or its index went away since it was prepared.
    pub fn publish_reindex(&mut self, prepared: &PreparedIndex) -> CatalogResult<Arc<Table>> {
        let mut table = self.table(prepared.table.oid)?.as_ref().clone();
        let oid = prepared.index.oid;
        let Some(index) = table.indexes.iter_mut().find(|it| it.oid == oid) else { return Err(no_index(oid)) };
        self.unstage(&prepared.entries)?;
        self.drop_storage(std::mem::replace(&mut index.storage, prepared.index.storage));
        Ok(self.put_table(table))
    }

    /// DROP INDEX.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`]; [`CatalogError::DependentObjects`] of an index that foreign keys need.
    pub fn drop_index(&mut self, table: TableOid, index: u32) -> CatalogResult<Arc<Table>> {
        if let Some(index) = self.table(table)?.indexes.iter().find(|it| it.oid == index) {
            let what = format!("index {}", index.name);
            self.release_parent(table, Some(index.oid), &BTreeSet::new(), (&what, false))?;
        }
        let mut table = self.table(table)?.as_ref().clone();
        self.remove_indexes(&mut table, |it| it.oid == index);
        Ok(self.put_table(table))
    }

    /// ALTER INDEX … RENAME TO; a constraint is renamed with its index.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`], [`CatalogError::DuplicateTable`].
    pub fn rename_index(&mut self, table: TableOid, index: u32, to: &str) -> CatalogResult<Arc<Table>> {
        let mut table = self.table(table)?.as_ref().clone();
        self.check_name_is_free(self.next.schema_name(&table), to)?;
        for index in table.indexes.iter_mut().filter(|it| it.oid == index) {
            index.name = to.to_string();
        }
        Ok(self.put_table(table))
    }

    /// Takes indexes from a table, with their storage.
    pub(crate) fn remove_indexes(&mut self, table: &mut Table, mut which: impl FnMut(&Index) -> bool) {
        for index in table.indexes.extract_if(.., |index| which(index)) {
            self.drop_storage(index.storage);
        }
    }

    /// The name that is given, if it is free, or PostgreSQL's choice. Source: `ChooseIndexName`.
    fn index_name(&self, table: &Table, new: &NewIndex) -> CatalogResult<String> {
        let schema = self.next.schema_name(table).to_string();
        if let Some(name) = &new.name {
            self.check_name_is_free(&schema, name)?;
            if new.constraint && table.is_constraint(name) {
                let (table, constraint) = (table.name.clone(), name.clone());
                return Err(CatalogError::DuplicateConstraint { table, constraint });
            }
            return Ok(name.clone());
        }
        let columns = new.parts.iter().map(|part| &part.column).chain(&new.include);
        let columns = columns.map(String::as_str).collect::<Vec<_>>().join("_");
        let base = format!("{}_{columns}_{}", table.name, if new.constraint { "key" } else { "idx" });
        let numbered = (1..).map(|number| format!("{base}{number}"));
        let mut names = std::iter::once(base.clone()).chain(numbered);
        let free = |name: &String| !table.is_constraint(name) && self.check_name_is_free(&schema, name).is_ok();
        Ok(names.find(free).unwrap_or(base))
    }
}

pub(crate) fn no_index(oid: u32) -> CatalogError {
    CatalogError::NoSuchTable { schema: None, name: format!("of oid {oid}") }
}

fn visible(table: &Table, name: &str) -> CatalogResult<ColumnId> {
    match table.column_by_name(name).filter(|column| !column.hidden) {
        Some(column) => Ok(column.id),
        None => Err(CatalogError::NoSuchColumn { table: table.name.clone(), column: name.to_string() }),
    }
}

/// Where the key bytes do not keep the value, the entries' column gets an id of its own.
fn take_part(table: &mut Table, new: &NewIndexPart) -> CatalogResult<IndexPart> {
    let column = visible(table, &new.column)?;
    if let Some(odd) = table.column(column).filter(|column| !column.ty.is_key()) {
        let feature = format!(
            "column \"{}\" of type {} in an index (its values have no order as bytes, as keys have)",
            odd.name, odd.ty
        );
        return Err(CatalogError::Unsupported { feature });
    }
    let keeps = table.column(column).is_some_and(|column| key_keeps_value(column.ty));
    let entry = if keeps { column } else { ColumnId(table.next_column) };
    if !keeps {
        let too_many = || CatalogError::TooManyChanges { table: table.name.clone(), what: "column ids" };
        table.next_column = table.next_column.checked_add(1).ok_or_else(too_many)?;
    }
    Ok(IndexPart { column, entry, descending: new.descending, nulls_first: new.nulls_first })
}
