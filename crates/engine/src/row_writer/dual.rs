//! Dual-write mode: describes indexes to the layer over the store ([`txn::DualStore`]).
//!
//! The layer derives entries from encoded rows with the codecs of `index`. All indexes of the catalog are registered
//! before a statement reads an index ([`Session::register_indexes`]).

use super::index_codec;
use crate::engine::EngineOptions;
use crate::error::EngineResult;
use crate::{Engine, Session};
use async_trait::async_trait;
use catalog::{CatalogCache, CatalogError, Index, RowCodec, Table};
use index::{IndexCodec, IndexError};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::{Bytes, EntryRows, Store, StoreError, StoreResult, TableId};
use txn::{Definitions, DualStore};

/// Adds the dual-write layer to the store if its capabilities, or the options, require it.
pub(crate) fn writing_entries(store: Arc<dyn Store>, options: &EngineOptions) -> (Arc<dyn Store>, Option<DualStore>) {
    let can = store.capabilities();
    if can.atomic_batches() && can.exclusive && !options.dual_write {
        return (store, None);
    }
    let dual = DualStore::new(store, Arc::clone(&options.clock), options.entry_patience);
    (Arc::new(dual.clone()), Some(dual))
}

/// The catalog, against which long commits check table definitions.
#[derive(Debug)]
pub(crate) struct CatalogOf(pub(crate) Arc<CatalogCache>);

#[async_trait]
impl Definitions for CatalogOf {
    async fn are_unchanged(&self, tables: &BTreeMap<TableId, u64>) -> StoreResult<bool> {
        match self.0.check_epochs(tables).await {
            Ok(()) => Ok(true),
            Err(CatalogError::ChangedElsewhere) => Ok(false),
            Err(CatalogError::Store(error)) => Err(error),
            Err(error) => Err(StoreError::Corrupted { detail: error.to_string() }),
        }
    }
}

/// Derives the entries of one index for one version of its table.
#[derive(Debug)]
struct EntriesOf {
    rows: TableId,
    table: RowCodec,
    index: IndexCodec,
}

impl EntriesOf {
    fn new(table: &Arc<Table>, index: &Index) -> EngineResult<Self> {
        Ok(Self { rows: table.storage_id(), table: RowCodec::new(table)?, index: index_codec(table, index)? })
    }
}

fn corrupted(error: &dyn std::error::Error) -> StoreError {
    StoreError::Corrupted { detail: error.to_string() }
}

impl EntryRows for EntriesOf {
    fn rows(&self) -> TableId {
        self.rows
    }

    fn rowkey(&self, entry: &[u8]) -> StoreResult<Bytes> {
        let mut rowkey = Vec::with_capacity(32);
        self.index.rowkey_of_key(&self.table, entry, &mut rowkey).map_err(|error| corrupted(&error))?;
        Ok(rowkey.into())
    }

    fn entry(&self, rowkey: &[u8], fragment: &[u8]) -> StoreResult<Option<(Bytes, Bytes)>> {
        let row = self.table.decode_full(rowkey, fragment).map_err(|error| corrupted(&error))?;
        match self.index.entry(&row) {
            Ok(entry) => Ok(entry.map(|entry| (entry.key, entry.fragment))),
            // A row for which the expression fails cannot be written either.
            Err(IndexError::Expr(error)) => Err(corrupted(error.as_ref())),
            Err(error) => Err(corrupted(&error)),
        }
    }

    fn unique_prefix(&self, entry: &[u8]) -> StoreResult<Option<usize>> {
        let prefix = self.index.unique_prefix(entry).map_err(|error| corrupted(&error))?;
        // A prefix that spans the whole entry key contains the rowkey, so only one row can have it.
        Ok(prefix.filter(|prefix| *prefix < entry.len()))
    }
}

/// Registers one index, whose expressions are compiled.
///
/// # Errors
/// Errors of codecs.
pub(crate) fn register_index(engine: &Engine, table: &Arc<Table>, index: &Index) -> EngineResult<()> {
    if let Some(dual) = engine.dual() {
        dual.know(index.storage_id(), Arc::new(EntriesOf::new(table, index)?));
    }
    Ok(())
}

impl Session {
    /// Registers all indexes of the catalog, unless this version is registered.
    ///
    /// # Errors
    /// Errors of codecs.
    pub(crate) async fn register_indexes(&mut self) -> EngineResult<()> {
        let Some(dual) = self.engine.dual().cloned() else { return Ok(()) };
        let catalog = self.engine.catalog().current();
        if dual.knows(catalog.version()) {
            return Ok(());
        }
        let mut all: BTreeMap<TableId, Arc<dyn EntryRows>> = BTreeMap::new();
        for table in catalog.tables().filter(|table| !table.indexes.is_empty()) {
            if let Err(error) = Box::pin(self.compile_indexes(&catalog, table)).await {
                // Statements on this table fail with the error; other tables are unaffected.
                tracing::warn!(%error, table = table.name, "indexes cannot be compiled");
                continue;
            }
            for index in &table.indexes {
                all.insert(index.storage_id(), Arc::new(EntriesOf::new(table, index)?));
            }
        }
        dual.know_all(catalog.version(), all);
        Ok(())
    }

    /// Registers the indexes of a table, whose expressions are compiled.
    ///
    /// # Errors
    /// As [`Self::register_indexes`].
    pub(crate) fn register_indexes_of(&self, table: &Arc<Table>) -> EngineResult<()> {
        table.indexes.iter().try_for_each(|index| register_index(&self.engine, table, index))
    }
}
