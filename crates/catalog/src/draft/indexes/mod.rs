//! Indexes in a catalog change.
//!
//! ```text
//!   new, names   definition of a new index, and its name
//!   prepared     CREATE INDEX and REINDEX while writers wait
//!   states       the same while writers go on
//! ```
//! This module changes or drops existing indexes.

mod names;
mod new;
mod prepared;
mod states;

pub use new::{IndexText, NewIndex, NewIndexExpr, NewIndexPart, NewPartOf};
pub use prepared::PreparedIndex;

use crate::{CatalogError, CatalogResult, Draft, Index, IndexRefresh, IndexState, Table, TableOid};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The kind of an index's constraint.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConstraintKind {
    /// See [`Index::primary`].
    pub primary: bool,
    /// DEFERRABLE.
    pub deferrable: bool,
    /// INITIALLY DEFERRED.
    pub deferred: bool,
}

impl Draft {
    /// Changes the refresh state or the refresh options of an index.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`], also if the table has no such index, or the index is not a refreshed one.
    pub fn change_refresh(
        &mut self,
        oid: TableOid,
        index: u32,
        change: impl FnOnce(&mut IndexRefresh),
    ) -> CatalogResult<Arc<Table>> {
        let mut table = self.table(oid)?.as_ref().clone();
        let found = table.indexes.iter_mut().find(|it| it.oid == index).and_then(|index| index.refresh.as_mut());
        change(found.ok_or_else(|| CatalogError::dropped(index))?);
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

    /// ALTER INDEX … RENAME TO; also renames the constraint of the index.
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

    /// ALTER INDEX … USABLE, UNUSABLE, DISABLE. Disabling an index drops its entries.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`], also when the table has no such index; [`CatalogError::DependentObjects`] of an
    /// index that foreign keys need.
    pub fn set_index_state(&mut self, oid: TableOid, index: u32, state: IndexState) -> CatalogResult<Arc<Table>> {
        let found = self.table(oid)?.indexes.iter().find(|it| it.oid == index).cloned();
        let Some(found) = found else { return Err(CatalogError::dropped(index)) };
        if !state.is_public() {
            let what = format!("index {}", found.name);
            self.release_parent(oid, Some(index), &BTreeSet::new(), (&what, false))?;
        }
        let mut table = self.table(oid)?.as_ref().clone();
        let empties = state == IndexState::Disabled && found.state != state;
        let entries = if empties { Some(self.new_storage(&found.entries(&table))?) } else { None };
        for it in table.indexes.iter_mut().filter(|it| it.oid == index) {
            it.state = state;
            if let Some(entries) = entries {
                self.drop_storage(std::mem::replace(&mut it.storage, entries));
            }
        }
        Ok(self.put_table(table))
    }

    /// ADD CONSTRAINT … USING INDEX: the index gets a constraint and the constraint's name.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`], also when the table has no such index; [`CatalogError::DuplicateConstraint`],
    /// [`CatalogError::DuplicateTable`]; [`CatalogError::SecondPrimaryKey`].
    pub fn make_constraint(
        &mut self,
        oid: TableOid,
        index: u32,
        name: Option<&str>,
        kind: ConstraintKind,
    ) -> CatalogResult<Arc<Table>> {
        let constraint = self.take_oid()?;
        let old = self.table(oid)?;
        if kind.primary && old.has_primary_key() {
            return Err(CatalogError::SecondPrimaryKey { table: old.name.clone() });
        }
        let Some(found) = old.indexes.iter().find(|it| it.oid == index) else {
            return Err(CatalogError::dropped(index));
        };
        let name = name.unwrap_or(&found.name).to_string();
        if old.is_constraint(&name) {
            return Err(CatalogError::DuplicateConstraint { table: old.name.clone(), constraint: name });
        }
        if name != found.name {
            self.rename_index(oid, index, &name)?;
        }
        let mut table = self.table(oid)?.as_ref().clone();
        for it in table.indexes.iter_mut().filter(|it| it.oid == index) {
            it.constraint = Some(constraint);
            (it.primary, it.deferrable, it.deferred) = (kind.primary, kind.deferrable, kind.deferred);
            for column in table.columns.iter_mut().filter(|column| it.primary && it.names(column.id)) {
                column.not_null = true;
            }
        }
        Ok(self.put_table(table))
    }

    /// Replaces the texts of index expressions and predicates, after a rename of a column in them. `texts` has the
    /// texts of each index, by its oid, in the order of [`Index::texts`].
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`].
    pub fn set_index_texts(&mut self, oid: TableOid, texts: &[(u32, Vec<IndexText>)]) -> CatalogResult<Arc<Table>> {
        let mut table = self.table(oid)?.as_ref().clone();
        for (index, texts) in texts {
            for index in table.indexes.iter_mut().filter(|it| it.oid == *index) {
                index.texts_mut().zip(texts).for_each(|(expr, new)| {
                    expr.text.clone_from(&new.text);
                    expr.shown.clone_from(&new.shown);
                    expr.ty = new.ty;
                });
            }
        }
        Ok(self.put_table(table))
    }

    /// Drops indexes of a table, with their storage.
    pub(crate) fn remove_indexes(&mut self, table: &mut Table, mut which: impl FnMut(&Index) -> bool) {
        for index in table.indexes.extract_if(.., |index| which(index)) {
            self.drop_storage(index.storage);
        }
    }
}
