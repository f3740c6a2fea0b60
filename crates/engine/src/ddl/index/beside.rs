//! Builds an index in dual-write mode, where other processes write to the table during the build.
//!
//! ```text
//!   DeleteOnly ──wait──> WriteOnly ──wait──> entries of all rows ──(UNIQUE: check duplicates)──> Public
//! ```
//! The states are those of an online build (`jobs/index_build`). Writers of other processes hold no lock to wait for,
//! but they read the catalog right before they write and again while they write, so all use the new state after
//! [`CATALOG_CHECK_INTERVAL`]. Writing a row's entry makes a concurrent writer that read the row before fail, so no row is
//! missed.
//!
//! The statement builds the index itself, without a job. If its process dies, the index stays in one of the first two
//! states, which queries do not read, until DROP INDEX removes it.

use crate::Session;
use crate::dml::{FAMILY, Target};
use crate::error::{EngineResult, Fault, fail};
use crate::jobs::check_unique;
use crate::row_writer::index_codec;
use catalog::{Catalog, CatalogError, Index, IndexState, NewIndex, Table, TableOid};
use query::QueryError;
use std::sync::Arc;
use std::time::Duration;
use store::{Durability, KeyRange, ScanRequest, WriteBatch};
use types::interrupt;

/// A running commit reads the catalog every 50 ms; the rest allows for its last row and for clock skew.
const CATALOG_CHECK_INTERVAL: Duration = Duration::from_millis(250);
/// Cost of building an entry, as `types::interrupt` counts it.
const STEPS_OF_AN_ENTRY: usize = 512;

impl Session {
    /// CREATE INDEX, ADD UNIQUE.
    pub(in crate::ddl) async fn add_index_dual_write(&mut self, table: &Table, new: NewIndex) -> EngineResult<()> {
        let index = self.change_catalog(|draft| draft.begin_index(table.oid, new)).await?;
        let built = self.build_index_dual_write(table.oid, index.oid).await;
        let built = match built {
            Ok(()) => {
                let public = IndexState::Public;
                self.change_catalog(|draft| draft.set_build_state(table.oid, index.oid, public).map(drop)).await
            }
            Err(error) => Err(error),
        };
        self.drop_index_on_error(built, table.oid, &index).await
    }

    /// REINDEX, ALTER INDEX … REBUILD: builds a second index and swaps its entries into the first.
    pub(in crate::ddl) async fn rebuild_index_dual_write(&mut self, table: &Table, old: &Index) -> EngineResult<()> {
        let index = self.change_catalog(|draft| draft.begin_reindex(table.oid, old.oid)).await?;
        let built = match self.build_index_dual_write(table.oid, index.oid).await {
            Ok(()) => {
                self.change_catalog(|draft| {
                    draft.swap_index(table.oid, old.oid, index.oid)?;
                    draft.set_build_state(table.oid, old.oid, IndexState::Public)?;
                    draft.drop_index(table.oid, index.oid).map(drop)
                })
                .await
            }
            Err(error) => Err(error),
        };
        self.drop_index_on_error(built, table.oid, &index).await
    }

    /// Drops the index if its build has failed.
    async fn drop_index_on_error(&self, built: EngineResult<()>, table: TableOid, index: &Index) -> EngineResult<()> {
        let Err(error) = built else { return Ok(()) };
        match self.engine.catalog().change(|draft| draft.drop_index(table, index.oid).map(drop)).await {
            Ok(()) | Err(CatalogError::NoSuchTable { .. }) => {}
            Err(discard) => {
                tracing::warn!(%discard, index = index.name, "a half-built index stays until it is dropped")
            }
        }
        Err(error)
    }

    /// Takes an index in state DeleteOnly to WriteOnly, and builds the entries of all rows.
    async fn build_index_dual_write(&mut self, table: TableOid, index: u32) -> EngineResult<()> {
        self.wait_for_other_writers().await?;
        self.change_catalog(|draft| draft.set_build_state(table, index, IndexState::WriteOnly).map(drop)).await?;
        self.wait_for_other_writers().await?;
        let catalog = self.engine.catalog().current();
        let (table, index) = found(&catalog, table, index)?;
        self.make_entries_with(&catalog, &table, &index).await
    }

    /// Builds the entries of all rows in unpublished storage, and reserves their unique values.
    pub(in crate::ddl) async fn make_entries(&mut self, table: &Arc<Table>, index: &Index) -> EngineResult<()> {
        let catalog = self.engine.catalog().current();
        self.make_entries_with(&catalog, table, index).await
    }

    async fn make_entries_with(
        &mut self,
        catalog: &Arc<Catalog>,
        table: &Arc<Table>,
        index: &Index,
    ) -> EngineResult<()> {
        self.compile_indexes(catalog, table).await?;
        self.register_indexes_of(table)?;
        self.make_entries_of_rows(catalog, table, index).await
    }

    /// Waits until writers of other processes use the current catalog. The table lock blocks the writers of this
    /// process.
    pub(in crate::ddl) async fn wait_for_other_writers(&self) -> EngineResult<()> {
        if self.engine.store().capabilities().exclusive {
            return Ok(());
        }
        let wait = async {
            tokio::time::sleep(CATALOG_CHECK_INTERVAL).await;
            Ok(())
        };
        self.running().stoppable(wait).await
    }

    async fn make_entries_of_rows(
        &mut self,
        catalog: &Arc<Catalog>,
        table: &Arc<Table>,
        index: &Index,
    ) -> EngineResult<()> {
        let Some(dual) = self.engine.dual().cloned() else {
            return fail(Fault::Internal { detail: "entries are made so in another mode".to_string() });
        };
        let target = Target::new(catalog, table, self.time_zone())?;
        let codec = index_codec(table, index)?;
        let store = Arc::clone(self.engine.store());
        // Earlier commits may not be published yet.
        let last = store.apply(WriteBatch::default(), Durability::Buffered).await?;
        let rows = store.snapshot(last).await?;
        let guard = self.running();
        let request = ScanRequest::new(target.storage, FAMILY, vec![KeyRange::all()]);
        let mut scan = store.scan(request, &rows).await?;
        while let Some(batch) = guard.stoppable(async { Ok(scan.next().await?) }).await? {
            for (key, fragment) in batch.keys().zip(batch.fragments()) {
                interrupt::spend(STEPS_OF_AN_ENTRY).map_err(QueryError::from)?;
                if let Some(entry) = codec.entry(&target.decode(key, fragment)?)? {
                    dual.repair_entry(index.storage_id(), &entry.key).await?;
                }
                guard.check()?;
            }
        }
        let last = store.apply(WriteBatch::default(), Durability::Buffered).await?;
        self.note_commit(last);
        match index.unique {
            true => {
                let entries = store.snapshot(last).await?;
                check_unique(store.as_ref(), &entries, &target, &codec, &|| guard.check()).await
            }
            false => Ok(()),
        }
    }
}

fn found(catalog: &Catalog, table: TableOid, index: u32) -> EngineResult<(Arc<Table>, Index)> {
    let gone = || CatalogError::ChangedElsewhere;
    let table = catalog.table_by_oid(table).ok_or_else(gone)?;
    let index = table.indexes.iter().find(|it| it.oid == index).ok_or_else(gone)?;
    Ok((Arc::clone(table), index.clone()))
}
