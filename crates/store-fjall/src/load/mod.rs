//! Bulk load: many rows into one table, invisible until the end, and then there as one commit.
//!
//! ```text
//!   write ──> buffer ──(full)──> sorted run on disk        rows.rs, run.rs
//!                 └──────┬───────────┘
//!   finish     small: one ordinary batch                   here
//!              large: merge ──> ingestion into a keyspace  merge.rs, install.rs
//! ```
//! A load that is dropped has touched nothing but its runs, which go with it; a crash leaves the runs
//! (removed at the next open) and perhaps a keyspace that no table names (likewise).

mod install;
mod merge;
mod rows;
mod run;

use crate::error::{engine, io};
use crate::inner::Inner;
use crate::limits::{check_fragment, check_key};
use crate::store::{blocking, joined};
use async_trait::async_trait;
use bytes::Bytes;
use fjall::Readable;
use rows::Rows;
use run::Run;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use store::{
    BulkLoad, CommitNo, Durability, FamilyId, Mutation, OnDuplicate, StoreError, StoreResult, TableId, WriteBatch,
};
use tokio::task::JoinHandle;

/// A load under way.
pub(crate) struct Load {
    inner: Arc<Inner>,
    table: TableId,
    on_duplicate: OnDuplicate,
    families: Vec<FamilyId>,
    buffer: Rows,
    runs: Vec<Run>,
    /// The run being written while the next buffer fills.
    spilling: Option<JoinHandle<StoreResult<Run>>>,
    /// Runs begun so far: the name of the next.
    begun: usize,
    /// Shared with the run being written: the folder goes when both are done with it.
    folder: Arc<RunFolder>,
}

impl Load {
    /// Begins a load.
    ///
    /// # Errors
    /// [`StoreError::NoSuchTable`].
    pub(crate) fn new(inner: Arc<Inner>, table: TableId, on_duplicate: OnDuplicate) -> StoreResult<Self> {
        let state = inner.pipeline.publisher.newest().clone();
        let families = state.tables.table(table)?.families.iter().map(|family| family.id).collect();
        let number = inner.loads.fetch_add(1, Ordering::Relaxed);
        let folder = Arc::new(RunFolder(inner.folder.load().join(number.to_string())));
        Ok(Self {
            inner,
            table,
            on_duplicate,
            families,
            buffer: Rows::default(),
            runs: Vec::new(),
            spilling: None,
            begun: 0,
            folder,
        })
    }

    /// Begins to sort the buffer and to write it to disk, once the one before is written.
    async fn spill(&mut self) -> StoreResult<()> {
        self.end_spill().await?;
        let mut rows = std::mem::take(&mut self.buffer);
        let (folder, name) = (self.folder.clone(), self.begun.to_string());
        self.begun += 1;
        self.spilling = Some(tokio::task::spawn_blocking(move || {
            rows.sort();
            Run::write(&folder.0.join(name), &rows)
        }));
        Ok(())
    }

    /// Waits for the run under way.
    async fn end_spill(&mut self) -> StoreResult<()> {
        if let Some(spilling) = self.spilling.take() {
            self.runs.push(joined(spilling.await)?);
        }
        Ok(())
    }

    /// All rows as one batch.
    fn finish_small(&self, rows: &Rows) -> StoreResult<CommitNo> {
        let mut batch = WriteBatch::default();
        let mut before = None;
        for row in rows.iter() {
            if self.on_duplicate == OnDuplicate::Fail {
                let twice = before == Some((row.family, row.key));
                if twice || self.exists(row.family, row.key)? {
                    let key = Bytes::copy_from_slice(row.key);
                    return Err(StoreError::DuplicateKey { table: self.table, key });
                }
                before = Some((row.family, row.key));
            }
            batch.mutations.push(Mutation::Replace {
                table: self.table,
                family: row.family,
                key: Bytes::copy_from_slice(row.key),
                fragment: row.fragment.to_vec(),
            });
        }
        let (commit, _) = self.inner.pipeline.apply(batch, Durability::Sync)?;
        Ok(commit)
    }

    /// The caller keeps other writers off the table: what is not there now will not be there at the end.
    fn exists(&self, family: FamilyId, key: &[u8]) -> StoreResult<bool> {
        let state = self.inner.pipeline.publisher.newest();
        let (_, place) = state.tables.place(self.table, family)?;
        let found = place.with_key(key, |key| state.snapshot.contains_key(&place.keyspace, key));
        found.map_err(engine("looking for a duplicate"))
    }
}

#[async_trait]
impl BulkLoad for Load {
    async fn write(&mut self, family: FamilyId, key: &[u8], fragment: &[u8]) -> StoreResult<()> {
        check_key(key)?;
        check_fragment(fragment)?;
        if !self.families.contains(&family) {
            return Err(StoreError::NoSuchFamily { table: self.table, family });
        }
        if self.buffer.bytes() + key.len() + fragment.len() > self.inner.options.load_buffer_bytes.min(1 << 30) {
            self.inner.check_open()?;
            self.spill().await?;
        }
        self.buffer.push(family, key, fragment);
        Ok(())
    }

    async fn finish(mut self: Box<Self>) -> StoreResult<CommitNo> {
        self.inner.check_open()?;
        self.inner.pipeline.read_only.check()?;
        let inner = self.inner.clone();
        self.end_spill().await?;
        if self.runs.is_empty() && self.buffer.bytes() <= inner.options.small_load_bytes {
            let pass = inner.admission.write().await?;
            let commit = blocking(move || {
                self.buffer.sort();
                self.finish_small(&self.buffer)
            });
            let commit = commit.await?;
            drop(pass);
            inner.pipeline.group_sync.sync(commit).await?;
            return Ok(commit);
        }
        let commit = blocking(move || install::install(*self)).await?;
        inner.pipeline.group_sync.sync(commit).await?;
        Ok(commit)
    }
}

/// The folder of a load's runs; it goes when the load does.
struct RunFolder(PathBuf);

impl RunFolder {
    /// # Errors
    /// I/O failures.
    fn make(path: &std::path::Path) -> StoreResult<()> {
        std::fs::create_dir_all(path).map_err(io(format_args!("creating {}", path.display())))
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        // A load that never spilled has no folder; what cannot be removed now is at the next open.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
