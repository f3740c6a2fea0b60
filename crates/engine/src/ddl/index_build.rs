//! Makes an index from the rows of its table: nobody sees it before it has them all.
//!
//! ```text
//!   prepare    storage that nobody sees          dropped at the next start, should the process die
//!   fill       rows ──IndexCodec──> entries ──> sorted runs; a unique index is then looked through for neighbours
//!   publish    the table has the index
//! ```
//! The caller keeps writers off the table from before the first to behind the last. Readers go on.

use crate::Session;
use crate::dml::{FAMILY, Target};
use crate::error::EngineResult;
use crate::jobs::check_unique;
use crate::row_writer::index_codec;
use catalog::{CatalogError, Index, NewIndex, PreparedIndex, Table};
use index::IndexCodec;
use query::QueryError;
use std::sync::Arc;
use store::{BulkLoad, KeyRange, RowBatch, ScanRequest};
use types::{Datum, interrupt};

/// What it takes to make an entry.
const STEPS_OF_AN_ENTRY: usize = 512;

impl Session {
    /// Adds an index to a table.
    pub(super) async fn add_index(&mut self, table: &Table, new: NewIndex) -> EngineResult<()> {
        if self.engine.dual().is_some() {
            return self.add_index_beside(table, new).await;
        }
        let prepared = self.change_catalog(|draft| draft.prepare_index(table.oid, new)).await?;
        let filled = match self.fill_index(&prepared).await {
            Ok(()) => self.change_catalog(|draft| draft.publish_index(&prepared).map(drop)).await,
            Err(error) => Err(error),
        };
        self.or_give_up(filled, &prepared, "CREATE INDEX").await
    }

    /// Makes an index anew.
    pub(super) async fn rebuild_index(&mut self, table: &Table, index: &Index) -> EngineResult<()> {
        if self.engine.dual().is_some() {
            return self.rebuild_index_beside(table, index).await;
        }
        let prepared = self.change_catalog(|draft| draft.prepare_reindex(table.oid, index.oid)).await?;
        let filled = match self.fill_index(&prepared).await {
            Ok(()) => self.change_catalog(|draft| draft.publish_reindex(&prepared).map(drop)).await,
            Err(error) => Err(error),
        };
        self.or_give_up(filled, &prepared, "REINDEX").await
    }

    async fn or_give_up(&self, done: EngineResult<()>, prepared: &PreparedIndex, command: &str) -> EngineResult<()> {
        if done.is_err() {
            match self.engine.catalog().change(|draft| draft.discard_index(prepared)).await {
                Ok(()) | Err(CatalogError::NoSuchTable { .. }) => {}
                Err(discard) => tracing::warn!(%discard, "storage of a failed {command} stays until restart"),
            }
        }
        done
    }

    async fn fill_index(&mut self, prepared: &PreparedIndex) -> EngineResult<()> {
        self.fill_entries(prepared.table(), prepared.index()).await
    }

    /// Fills the storage of an index, which nobody sees yet, from the rows of its table.
    pub(super) async fn fill_entries(&mut self, table: &Arc<Table>, index: &Index) -> EngineResult<()> {
        let catalog = self.engine.catalog().current();
        self.compile_indexes(&catalog, table).await?;
        let target = Target::new(&catalog, table, self.time_zone())?;
        let codec = index_codec(table, index)?;
        let store = self.engine.store().clone();
        let rows = store.snapshot(self.last_of_all().await?).await?;
        let mut load = txn::load_unseen(&store, codec.index().storage_id()).await?;
        let guard = self.running();
        let request = ScanRequest::new(target.storage, FAMILY, vec![KeyRange::all()]);
        let mut scan = store.scan(request, &rows).await?;
        let mut row = vec![Datum::Null; target.width()];
        while let Some(batch) = guard.stoppable(async { Ok(scan.next().await?) }).await? {
            add_entries(&target, &codec, &batch, &mut row, load.as_mut()).await?;
            guard.check()?;
        }
        let commit = guard.stoppable(async { Ok(load.finish().await?) }).await?;
        self.last_commit = self.last_commit.max(commit);
        match codec.index().unique {
            true => {
                let entries = store.snapshot(commit).await?;
                check_unique(store.as_ref(), &entries, &target, &codec, &|| guard.check()).await
            }
            false => Ok(()),
        }
    }
}

/// Adds the entries of some rows. `row` is the caller's, with a place for each column of the table.
async fn add_entries(
    target: &Target,
    codec: &IndexCodec,
    batch: &RowBatch,
    row: &mut [Datum],
    load: &mut dyn BulkLoad,
) -> EngineResult<()> {
    for (key, fragment) in batch.keys().zip(batch.fragments()) {
        interrupt::spend(STEPS_OF_AN_ENTRY).map_err(QueryError::from)?;
        let values = target.codec.decode_row(key, fragment, codec.columns())?;
        for (at, value) in codec.columns().iter().zip(values) {
            if let Some(slot) = row.get_mut(*at) {
                *slot = value;
            }
        }
        if let Some(entry) = codec.entry(row)? {
            load.write(FAMILY, &entry.key, &entry.fragment).await?;
        }
    }
    Ok(())
}
