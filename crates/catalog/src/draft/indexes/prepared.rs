//! CREATE INDEX and REINDEX in two halves: first the storage is created and filled while the table definition is
//! unchanged, then the table gets the index. The caller keeps out all writers during both halves.

use super::names::part_names;
use super::{NewIndex, NewIndexExpr, NewIndexPart, NewPartOf};
use crate::draft::build::encode_key_splits;
use crate::index::key_preserves_value;
use crate::{
    CatalogError, CatalogResult, ColumnId, Draft, Index, IndexExpr, IndexPart, IndexState, PartOf, PreparedTable,
    Table, TableOid,
};
use std::sync::Arc;

/// An index with storage, not yet visible.
#[derive(Clone, Debug)]
pub struct PreparedIndex {
    index: Index,
    table: Arc<Table>,
    entries: PreparedTable,
}

impl PreparedIndex {
    /// The index as it will be published.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// The table as it will be published, with the index.
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
        if new.primary && table.has_primary_key() {
            return Err(CatalogError::SecondPrimaryKey { table: table.name.clone() });
        }
        let names = part_names(&new);
        let name = self.index_name(&table, &new, &names)?;
        let parts = new.parts.iter().zip(names).map(|(part, name)| take_part(&mut table, part, name));
        let parts = parts.collect::<CatalogResult<_>>()?;
        let local = new.local && table.salt_buckets.is_some();
        let include = new.include.iter().map(|name| visible(&table, name)).collect::<CatalogResult<_>>()?;
        let mut index = Index {
            oid: self.take_oid()?,
            name,
            storage: 0,
            unique: new.unique,
            nulls_not_distinct: new.nulls_not_distinct,
            constraint: if new.constraint { Some(self.take_oid()?) } else { None },
            primary: new.primary,
            parts,
            include,
            deferrable: new.deferrable,
            deferred: new.deferred,
            salt_buckets: if local { table.salt_buckets } else { new.salt_buckets },
            predicate: new.predicate.map(|predicate| take_expr(&table, &predicate, String::new())).transpose()?,
            local,
            splits: Vec::new(),
            state: if new.refresh.is_some() { IndexState::Refreshed } else { IndexState::Public },
            refresh: new.refresh,
            replaces: None,
        };
        index.splits = encode_key_splits(&index.entries(&table), new.splits)?;
        let entries = self.stage(index.entries(&table))?;
        index.storage = entries.table().storage;
        table.indexes.push(index.clone());
        Ok(PreparedIndex { index, table: Arc::new(table), entries })
    }

    /// The second half: adds the index to the table.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`], [`CatalogError::NoSuchColumn`] and [`CatalogError::DuplicateTable`] after a
    /// change since it was prepared.
    pub fn publish_index(&mut self, prepared: &PreparedIndex) -> CatalogResult<Arc<Table>> {
        self.publish_index_as(prepared, prepared.index.clone())
    }

    /// As [`Self::publish_index`], with a modified index definition.
    pub(crate) fn publish_index_as(&mut self, prepared: &PreparedIndex, index: Index) -> CatalogResult<Arc<Table>> {
        let mut table = self.table(prepared.table.oid)?.as_ref().clone();
        self.check_name_is_free(self.next.schema_name(&table), &index.name)?;
        if let Some(gone) = prepared.table.columns.iter().find(|it| index.names(it.id) && table.column(it.id).is_none())
        {
            return Err(CatalogError::NoSuchColumn { table: table.name.clone(), column: gone.name.clone() });
        }
        self.unstage(&prepared.entries)?;
        table.next_column = table.next_column.max(prepared.table.next_column);
        for column in table.columns.iter_mut().filter(|column| index.primary && index.names(column.id)) {
            column.not_null = true;
        }
        table.indexes.push(index);
        Ok(self.put_table(table))
    }

    /// Drops a prepared index with its storage.
    ///
    /// # Errors
    /// As [`Draft::discard_table`].
    pub fn discard_index(&mut self, prepared: &PreparedIndex) -> CatalogResult<()> {
        self.discard_table(&prepared.entries)
    }

    /// The first half of REINDEX: new storage, to be filled from the table's rows.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`], also when the table has no such index.
    pub fn prepare_reindex(&mut self, table: TableOid, index: u32) -> CatalogResult<PreparedIndex> {
        let mut table = self.table(table)?.as_ref().clone();
        let Some(old) = table.indexes.iter().find(|it| it.oid == index) else {
            return Err(CatalogError::dropped(index));
        };
        let mut index = old.clone();
        let entries = self.stage(index.entries(&table))?;
        index.storage = entries.table().storage;
        index.state = if index.refresh.is_some() { IndexState::Refreshed } else { IndexState::Public };
        table.indexes.iter_mut().filter(|it| it.oid == index.oid).for_each(|it| it.clone_from(&index));
        Ok(PreparedIndex { index, table: Arc::new(table), entries })
    }

    /// The second half: the index gets the new storage, and the old one is dropped.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`] if the table or its index was dropped since it was prepared.
    pub fn publish_reindex(&mut self, prepared: &PreparedIndex) -> CatalogResult<Arc<Table>> {
        let mut table = self.table(prepared.table.oid)?.as_ref().clone();
        let oid = prepared.index.oid;
        let Some(index) = table.indexes.iter_mut().find(|it| it.oid == oid) else {
            return Err(CatalogError::dropped(oid));
        };
        self.unstage(&prepared.entries)?;
        index.state = prepared.index.state;
        self.drop_storage(std::mem::replace(&mut index.storage, prepared.index.storage));
        Ok(self.put_table(table))
    }
}

fn visible(table: &Table, name: &str) -> CatalogResult<ColumnId> {
    match table.column_by_name(name).filter(|column| !column.hidden) {
        Some(column) => Ok(column.id),
        None => Err(CatalogError::NoSuchColumn { table: table.name.clone(), column: name.to_string() }),
    }
}

fn take_expr(table: &Table, new: &NewIndexExpr, name: String) -> CatalogResult<IndexExpr> {
    let columns = new.columns.iter().map(|name| visible(table, name)).collect::<CatalogResult<_>>()?;
    Ok(IndexExpr { text: new.text.clone(), name, ty: new.ty, columns, shown: new.shown.clone() })
}

/// Allocates an id for the entries' column of an expression, or of a column whose key bytes do not keep the value.
fn take_part(table: &mut Table, new: &NewIndexPart, name: String) -> CatalogResult<IndexPart> {
    let (descending, nulls_first) = (new.descending, new.nulls_first);
    let column = match &new.of {
        NewPartOf::Column(column) => visible(table, column)?,
        NewPartOf::Expression(expression) => {
            if !expression.ty.is_key() {
                let feature = format!("an index on an expression of type {}", expression.ty);
                return Err(CatalogError::Unsupported { feature });
            }
            let of = PartOf::Expression(take_expr(table, expression, name)?);
            return Ok(IndexPart { of, entry: new_column_id(table)?, descending, nulls_first });
        }
    };
    if let Some(odd) = table.column(column).filter(|column| !column.ty.is_key()) {
        let feature = format!(
            "column \"{}\" of type {} in an index (its values have no order as bytes, as keys have)",
            odd.name, odd.ty
        );
        return Err(CatalogError::Unsupported { feature });
    }
    let keeps = table.column(column).is_some_and(|column| key_preserves_value(column.ty));
    let entry = if keeps { column } else { new_column_id(table)? };
    Ok(IndexPart { of: PartOf::Column(column), entry, descending, nulls_first })
}

fn new_column_id(table: &mut Table) -> CatalogResult<ColumnId> {
    let id = ColumnId(table.next_column);
    let too_many = || CatalogError::TooManyChanges { table: table.name.clone(), what: "column ids" };
    table.next_column = table.next_column.checked_add(1).ok_or_else(too_many)?;
    Ok(id)
}
