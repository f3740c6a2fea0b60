//! Builds an index from the rows of its table and publishes it when it is complete.
//!
//! ```text
//!   prepare    unpublished storage               dropped at the next start if the process dies
//!   fill       ranges of the table ──workers──> entries ──> sorted runs; a unique index is then scanned for duplicates
//!   publish    the table has the index
//! ```
//! The caller locks the table against writers for the whole build. Readers continue.

use crate::Session;
use crate::dml::{FAMILY, Target};
use crate::error::EngineResult;
use crate::jobs::check_unique;
use crate::row_writer::index_codec;
use catalog::{CatalogError, Index, NewIndex, PreparedIndex, Table};
use index::{EntryMaker, IndexCodec};
use parking_lot::Mutex;
use query::QueryError;
use std::sync::Arc;
use store::{BulkLoad, KeyRange, LoadRows, ScanRequest, Snapshot, Store, TableId};
use tokio::sync::mpsc;
use types::interrupt;

/// Cost of building an entry, as `types::interrupt` counts it.
const STEPS_OF_AN_ENTRY: usize = 512;
/// Number of parallel workers.
const WORKERS: usize = 2;
/// Ranges of the table for each worker; more than one, so that the workers finish at about the same time.
const PIECES: usize = 4;
/// Bytes of a batch of entries.
const HANDED_ON: usize = 256 << 10;
/// Extra capacity of a batch for its last entry, which avoids reallocation.
const ROOM: usize = 4 << 10;

impl Session {
    /// Adds an index to a table.
    pub(in crate::ddl) async fn add_index(&mut self, table: &Table, new: NewIndex) -> EngineResult<()> {
        if self.engine.dual().is_some() {
            return self.add_index_dual_write(table, new).await;
        }
        let prepared = self.change_catalog(|draft| draft.prepare_index(table.oid, new)).await?;
        let filled = match self.fill_index(&prepared).await {
            Ok(()) => self.change_catalog(|draft| draft.publish_index(&prepared).map(drop)).await,
            Err(error) => Err(error),
        };
        self.discard_index_on_error(filled, &prepared, "CREATE INDEX").await
    }

    /// Rebuilds an index.
    pub(in crate::ddl) async fn rebuild_index(&mut self, table: &Table, index: &Index) -> EngineResult<()> {
        if index.refresh.is_some() {
            return self.refresh_index(table, index).await;
        }
        if self.engine.dual().is_some() {
            return self.rebuild_index_dual_write(table, index).await;
        }
        let prepared = self.change_catalog(|draft| draft.prepare_reindex(table.oid, index.oid)).await?;
        let filled = match self.fill_index(&prepared).await {
            Ok(()) => self.change_catalog(|draft| draft.publish_reindex(&prepared).map(drop)).await,
            Err(error) => Err(error),
        };
        self.discard_index_on_error(filled, &prepared, "REINDEX").await
    }

    pub(in crate::ddl) async fn discard_index_on_error(
        &self,
        done: EngineResult<()>,
        prepared: &PreparedIndex,
        command: &str,
    ) -> EngineResult<()> {
        if done.is_err() {
            match self.engine.catalog().change(|draft| draft.discard_index(prepared)).await {
                Ok(()) | Err(CatalogError::NoSuchTable { .. }) => {}
                Err(discard) => tracing::warn!(%discard, "storage of a failed {command} stays until restart"),
            }
        }
        done
    }

    pub(in crate::ddl) async fn fill_index(&mut self, prepared: &PreparedIndex) -> EngineResult<()> {
        self.fill_entries(prepared.table(), prepared.index()).await
    }

    /// Builds the entries of an index in its unpublished storage from the rows of its table.
    pub(in crate::ddl) async fn fill_entries(&mut self, table: &Arc<Table>, index: &Index) -> EngineResult<()> {
        let catalog = self.engine.catalog().current();
        self.compile_indexes(&catalog, table).await?;
        let target = Target::new(&catalog, table, self.time_zone())?;
        let codec = index_codec(table, index)?;
        let store = self.engine.store().clone();
        let rows = store.snapshot(self.latest_commit().await?).await?;
        let mut load = txn::load_unseen(&store, codec.index().storage_id()).await?;
        self.load_entries(rows, &target, &codec, load.as_mut()).await?;
        let guard = self.running();
        let commit = guard.stoppable(async { Ok(load.finish().await?) }).await?;
        self.note_commit(commit);
        match codec.index().unique {
            true => {
                let entries = store.snapshot(commit).await?;
                check_unique(store.as_ref(), &entries, &target, &codec, &|| guard.check()).await
            }
            false => Ok(()),
        }
    }

    /// Builds the entries of all rows in parallel and writes them to `load`, in any order.
    async fn load_entries(
        &self,
        rows: Snapshot,
        target: &Target,
        codec: &IndexCodec,
        load: &mut dyn BulkLoad,
    ) -> EngineResult<()> {
        let (guard, store) = (self.running(), Arc::clone(self.engine.store()));
        let pieces = store.split(target.storage, FAMILY, &[KeyRange::all()], WORKERS * PIECES).await?;
        let workers = pieces.len().clamp(1, WORKERS);
        let (sender, mut made) = mpsc::channel(WORKERS);
        let worker = Worker {
            store,
            rows,
            table: target.storage,
            pieces: Arc::new(Mutex::new(pieces)),
            maker: EntryMaker::new(&target.codec, [codec])?,
            entries: LoadRows::default(),
            made: sender,
        };
        let spawn = |worker: Worker| self.engine.runtime().spawn(Some(guard.host()), worker.run());
        let working = vec![worker; workers].into_iter().map(spawn).collect::<EngineResult<Vec<_>>>()?;
        while let Some(entries) = guard.stoppable(async { Ok(made.recv().await) }).await? {
            load.write_rows(FAMILY, entries?).await?;
        }
        for worker in working {
            worker.await.map_err(|error| QueryError::internal(error.to_string()))?;
        }
        Ok(())
    }
}

/// Builds the entries of ranges of the table until no range is left.
#[derive(Clone)]
struct Worker {
    store: Arc<dyn Store>,
    rows: Snapshot,
    table: TableId,
    pieces: Arc<Mutex<Vec<Vec<KeyRange>>>>,
    maker: EntryMaker,
    /// Entries that are not sent yet.
    entries: LoadRows,
    made: mpsc::Sender<EngineResult<LoadRows>>,
}

impl Worker {
    /// Builds entries until no range is left or an error occurs.
    async fn run(mut self) {
        loop {
            let Some(ranges) = self.pieces.lock().pop() else { return };
            if let Err(error) = self.piece(ranges).await {
                // The receiver is gone if the statement has ended.
                let _ = self.made.send(Err(error)).await;
                return;
            }
        }
    }

    async fn piece(&mut self, ranges: Vec<KeyRange>) -> EngineResult<()> {
        let mut scan = self.store.scan(ScanRequest::new(self.table, FAMILY, ranges), &self.rows).await?;
        while let Some(batch) = scan.next().await? {
            interrupt::spend(STEPS_OF_AN_ENTRY.saturating_mul(batch.len())).map_err(QueryError::from)?;
            for (key, fragment) in batch.keys().zip(batch.fragments()) {
                let entries = &mut self.entries;
                self.maker.make(key, fragment, |_, key, fragment| entries.push(key, fragment))?;
                if self.entries.byte_len() >= HANDED_ON {
                    self.hand_on().await;
                }
            }
        }
        self.hand_on().await;
        Ok(())
    }

    async fn hand_on(&mut self) {
        let next = LoadRows::with_capacity(HANDED_ON + ROOM);
        let entries = std::mem::replace(&mut self.entries, next);
        if !entries.is_empty() {
            // A send fails only if the statement has ended; the next interrupt check then ends the worker.
            let _ = self.made.send(Ok(entries)).await;
        }
    }
}
