//! The states of an index in a change of the catalog: what a concurrent build, rebuild and drop are made of.
//!
//! ```text
//!   build   begin_index: DeleteOnly ──> WriteOnly ──> Public
//!   rebuild begin_reindex: a second index of the same definition, built as one; swap_index gives its entries to the first
//!   drop    WriteOnly ──> DeleteOnly ──> detach_index: entries without an index ──> drop_detached
//! ```
//! No table lock is held over a change: writers that knew the state before go on, and the caller waits for them before the
//! next one.

use super::no_index;
use crate::{CatalogError, CatalogResult, Draft, Index, IndexState, NewIndex, Table, TableOid};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What PostgreSQL calls an index that REINDEX CONCURRENTLY makes.
const REPLACEMENT: &str = "_ccnew";

impl Draft {
    /// The table has the index, whose entries only leave for the time being.
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

    /// The table has a second index of the definition of this one.
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
        let index = Index { oid, name, constraint, state, ..prepared.index().clone() };
        self.publish_index_as(&prepared, index.clone())?;
        Ok(index)
    }

    /// The index is in that state.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`]: the table or the index is gone.
    pub fn set_build_state(&mut self, table: TableOid, index: u32, state: IndexState) -> CatalogResult<Arc<Table>> {
        let mut table = self.table(table)?.as_ref().clone();
        index_of(&mut table, index)?.state = state;
        Ok(self.put_table(table))
    }

    /// Is nothing in the way of dropping it?
    ///
    /// # Errors
    /// [`CatalogError::DependentObjects`] of an index that foreign keys need.
    pub fn check_index_drop(&mut self, table: TableOid, index: u32) -> CatalogResult<()> {
        let found = self.table(table)?.indexes.iter().find(|it| it.oid == index).cloned();
        let Some(index) = found else { return Ok(()) };
        let what = format!("index {}", index.name);
        self.release_parent(table, Some(index.oid), &BTreeSet::new(), (&what, false)).map(drop)
    }

    /// The entries of the one index become those of the other, and the other way round. One that was not read or kept has all
    /// its entries now, and is.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`]: the table or one of the indexes is gone.
    pub fn swap_index(&mut self, table: TableOid, index: u32, replacement: u32) -> CatalogResult<Arc<Table>> {
        let mut table = self.table(table)?.as_ref().clone();
        let new = index_of(&mut table, replacement)?.storage;
        let old = std::mem::replace(&mut index_of(&mut table, index)?.storage, new);
        index_of(&mut table, replacement)?.storage = old;
        if !index_of(&mut table, index)?.state.is_public() {
            index_of(&mut table, index)?.state = IndexState::Public;
            // What it has now need not be complete, and says nothing of what is unique.
            index_of(&mut table, replacement)?.state = IndexState::DeleteOnly;
        }
        Ok(self.put_table(table))
    }

    /// The table has the index no more. Its entries stay, for writers that knew it, until [`Self::drop_detached`] or the next
    /// start. The storage of its entries; `None` if it was gone before.
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

    /// Entries without an index go away.
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
    table.indexes.iter_mut().find(|it| it.oid == oid).ok_or_else(|| no_index(oid))
}
