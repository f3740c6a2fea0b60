//! Index states in a catalog change: the steps of a concurrent build, rebuild and drop.
//!
//! ```text
//!   build   begin_index: DeleteOnly ──> WriteOnly ──> Public
//!   rebuild begin_reindex: builds a second index of the same definition; swap_index exchanges the entries
//!   drop    WriteOnly ──> DeleteOnly ──> detach_index: entries without an index ──> drop_detached
//! ```
//! No table lock is held across a change: writers that started in the previous state continue, and the caller waits for
//! them before the next step.

use crate::{CatalogError, CatalogResult, Draft, Index, IndexState, NewIndex, Table, TableOid};
use std::collections::BTreeSet;
use std::sync::Arc;

/// PostgreSQL's suffix of an index that REINDEX CONCURRENTLY creates.
const REPLACEMENT: &str = "_ccnew";

impl Draft {
    /// Adds the index in state DeleteOnly: writers remove its entries but add none.
    ///
    /// # Errors
    /// As [`Draft::prepare_index`].
    pub fn begin_index(&mut self, oid: TableOid, new: NewIndex) -> CatalogResult<Index> {
        let prepared = self.prepare_index(oid, new)?;
        let mut index = prepared.index().clone();
        index.state = IndexState::DeleteOnly;
        self.publish_index_as(&prepared, index.clone())?;
        Ok(index)
    }

    /// Adds a second index with the definition of this one, in state DeleteOnly.
    ///
    /// # Errors
    /// As [`Draft::prepare_reindex`].
    pub fn begin_reindex(&mut self, table: TableOid, index: u32) -> CatalogResult<Index> {
        let prepared = self.prepare_reindex(table, index)?;
        let schema = self.next.schema_name(prepared.table()).to_string();
        let base = format!("{}{REPLACEMENT}", prepared.index().name);
        let numbered = (1..).map(|number| format!("{base}{number}"));
        let mut names = std::iter::once(base.clone()).chain(numbered);
        let name = names.find(|name| self.check_name_is_free(&schema, name).is_ok()).unwrap_or(base);
        let (oid, constraint, state) = (self.take_oid()?, None, IndexState::DeleteOnly);
        let replaces = Some(prepared.index().oid);
        let index = Index { oid, name, constraint, state, replaces, ..prepared.index().clone() };
        self.publish_index_as(&prepared, index.clone())?;
        Ok(index)
    }

    /// Sets the state of an index.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`]: the table or the index is gone.
    pub fn set_build_state(&mut self, table: TableOid, index: u32, state: IndexState) -> CatalogResult<Arc<Table>> {
        let mut table = self.table(table)?.as_ref().clone();
        index_of(&mut table, index)?.state = state;
        Ok(self.put_table(table))
    }

    /// Checks that no foreign key prevents dropping the index.
    ///
    /// # Errors
    /// [`CatalogError::DependentObjects`] of an index that foreign keys need.
    pub fn check_index_drop(&mut self, table: TableOid, index: u32) -> CatalogResult<()> {
        let found = self.table(table)?.indexes.iter().find(|it| it.oid == index).cloned();
        let Some(index) = found else { return Ok(()) };
        let what = format!("index {}", index.name);
        self.release_parent(table, Some(index.oid), &BTreeSet::new(), (&what, false)).map(drop)
    }

    /// Exchanges the entries of two indexes. If the first one was not public, it becomes so, because its entries are
    /// complete now.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`]: the table or one of the indexes is gone. [`CatalogError::IndexChanged`]: their
    /// entries differ, because one of the definitions was changed.
    pub fn swap_index(&mut self, table: TableOid, index: u32, replacement: u32) -> CatalogResult<Arc<Table>> {
        let mut table = self.table(table)?.as_ref().clone();
        let (old, new) = (index_of(&mut table, index)?.clone(), index_of(&mut table, replacement)?);
        if !old.has_entries_of(new) {
            return Err(CatalogError::IndexChanged { name: old.name });
        }
        let new = index_of(&mut table, replacement)?.storage;
        let old = std::mem::replace(&mut index_of(&mut table, index)?.storage, new);
        index_of(&mut table, replacement)?.storage = old;
        if !index_of(&mut table, index)?.state.is_public() {
            index_of(&mut table, index)?.state = IndexState::Public;
            // The replacement's entries need not be complete now, so they cannot be used to check uniqueness.
            index_of(&mut table, replacement)?.state = IndexState::DeleteOnly;
        }
        Ok(self.put_table(table))
    }

    /// Removes the index from the table. Its entries stay, for writers that still maintain it, until
    /// [`Self::drop_detached`] or the next start. Returns the storage of the entries; `None` if there was no such
    /// index.
    ///
    /// # Errors
    /// None so far.
    pub fn detach_index(&mut self, table: TableOid, index: u32) -> CatalogResult<Option<u32>> {
        let Ok(table) = self.table(table) else { return Ok(None) };
        let mut table = table.as_ref().clone();
        let Some(at) = table.indexes.iter().position(|it| it.oid == index) else { return Ok(None) };
        let storage = table.indexes.remove(at).storage;
        self.next.staged.insert(storage);
        self.dirty.staged.insert(storage);
        self.put_table(table);
        Ok(Some(storage))
    }

    /// Drops the entries of a detached index.
    ///
    /// # Errors
    /// None so far.
    pub fn drop_detached(&mut self, storage: u32) -> CatalogResult<()> {
        if self.next.staged.remove(&storage) {
            self.dirty.staged.insert(storage);
            self.drop_storage(storage);
        }
        Ok(())
    }
}

fn index_of(table: &mut Table, oid: u32) -> Result<&mut Index, CatalogError> {
    table.indexes.iter_mut().find(|it| it.oid == oid).ok_or_else(|| CatalogError::dropped(oid))
}
