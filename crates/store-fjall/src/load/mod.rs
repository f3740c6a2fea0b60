//! Bulk load: many rows into one table, invisible until the end, and then there as one commit.
//!
//! ```text
//!   write ──> buffer ──(full)──> sorted run on disk        rows.rs, run.rs
//!                 └──────┬───────────┘
//!   finish     small: one ordinary batch                   here
//!              large: merge ──> ingestion into a keyspace  merge.rs, install.rs
//!   in key order, into an empty table: ingestion at once   stream.rs
//! ```
//! Others may write to the table meanwhile: what they committed before the end is merged with, and the end itself is
//! fenced by the table's last commit.
//!
//! A load that is dropped has touched nothing but its runs, which go with it; a crash leaves the runs
//! (removed at the next open) and perhaps a keyspace that no table names (likewise).

mod install;
mod merge;
mod rows;
mod run;
mod stream;
mod writer;

use crate::commit::pipeline::Fence;
use crate::commit::publish::State;
use crate::error::{engine, io};
use crate::inner::Inner;
use crate::limits::{check_fragment, check_key, check_own_key};
use crate::memtable_budget;
use crate::seam::task;
use crate::store::{blocking, joined};
use async_trait::async_trait;
use bytes::Bytes;
use fjall::Readable;
use rows::Rows;
use run::RunFile;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use store::{
    BulkLoad, CommitNo, Durability, FamilyId, LoadRows, Mutation, OnDuplicate, StoreError, StoreResult, TableId,
    WriteBatch,
};
use stream::{SortedStream, Streamed};

/// How often a small load looks for duplicates again because others wrote to the table meanwhile.
const SMALL_ATTEMPTS: usize = 16;

/// Rows of a stream that are handed on at a time, in bytes.
const STREAM_BYTES: usize = 1 << 20;

/// A load under way.
pub(crate) struct Load {
    inner: Arc<Inner>,
    table: TableId,
    on_duplicate: OnDuplicate,
    families: Vec<FamilyId>,
    buffer: Rows,
    order: Order,
    /// What came in order, once something did not.
    streamed: Option<Streamed>,
    runs: Vec<RunFile>,
    /// The run being written while the next buffer fills.
    spilling: Option<task::JoinHandle<StoreResult<RunFile>>>,
    /// Runs begun so far: the name of the next.
    begun: usize,
    /// Shared with the run being written: the folder goes when both are done with it.
    folder: Arc<RunFolder>,
}

/// Do the rows come in key order?
enum Order {
    /// There are too few of them to ask.
    NotAsked,
    /// So far; they go where they will stay.
    Sorted(SortedStream),
    /// No, or not into an empty table: they go into runs.
    Unsorted,
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
            order: Order::NotAsked,
            streamed: None,
            runs: Vec::new(),
            spilling: None,
            begun: 0,
            folder,
        })
    }

    /// How much the buffer may hold before something is done about it.
    fn buffer_limit(&self) -> usize {
        let options = &self.inner.options;
        let most = options.load_buffer_bytes.min(1 << 30);
        match self.order {
            Order::NotAsked => options.small_load_bytes.min(most),
            Order::Sorted(_) => STREAM_BYTES.min(most),
            Order::Unsorted => most,
        }
    }

    /// The buffer is full: its rows go on, or it may become larger.
    async fn make_room(&mut self) -> StoreResult<()> {
        self.inner.check_open()?;
        self.inner.room.take(self.buffer.bytes())?;
        match self.order {
            Order::NotAsked => {
                let stream = match self.buffer.is_strictly_sorted() {
                    true => SortedStream::begin(self.inner.clone(), self.table, self.on_duplicate).await?,
                    false => None,
                };
                self.order = stream.map_or(Order::Unsorted, Order::Sorted);
                self.pass_on().await
            }
            Order::Sorted(_) => self.pass_on().await,
            Order::Unsorted => self.spill().await,
        }
    }

    /// Gives the buffer to the stream. The stream ends if the rows are not in order.
    async fn pass_on(&mut self) -> StoreResult<()> {
        let Order::Sorted(stream) = &mut self.order else { return Ok(()) };
        if stream.takes(&self.buffer) {
            return stream.push(std::mem::take(&mut self.buffer)).await;
        }
        self.end_stream().await
    }

    async fn end_stream(&mut self) -> StoreResult<()> {
        if let Order::Sorted(stream) = std::mem::replace(&mut self.order, Order::Unsorted) {
            self.streamed = Some(stream.end().await?);
        }
        Ok(())
    }

    /// Begins to sort the buffer and to write it to disk, once the one before is written.
    async fn spill(&mut self) -> StoreResult<()> {
        self.end_spill().await?;
        let mut rows = std::mem::take(&mut self.buffer);
        let (folder, name) = (self.folder.clone(), self.begun.to_string());
        self.begun += 1;
        self.spilling = Some(task::spawn_blocking(move || {
            rows.sort();
            RunFile::write(&folder.0.join(name), &rows)
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

    fn check(&self, family: FamilyId, key: &[u8], fragment: &[u8]) -> StoreResult<()> {
        check_key(key)?;
        check_own_key(key)?;
        check_fragment(fragment)?;
        if !self.families.contains(&family) {
            return Err(StoreError::NoSuchFamily { table: self.table, family });
        }
        Ok(())
    }

    /// All rows as one batch.
    fn finish_small(&self, rows: &Rows) -> StoreResult<CommitNo> {
        if self.on_duplicate == OnDuplicate::Replace {
            return self.apply(rows, None);
        }
        let mut attempts = 0;
        loop {
            let state = self.inner.pipeline.publisher.newest().clone();
            self.check_duplicates(&state, rows)?;
            let fence = Fence { table: self.table, since: state.commit };
            attempts += 1;
            match self.apply(rows, Some(fence)) {
                Err(StoreError::TableChanged { .. }) if attempts < SMALL_ATTEMPTS => {}
                other => return other,
            }
        }
    }

    fn apply(&self, rows: &Rows, fence: Option<Fence>) -> StoreResult<CommitNo> {
        let batch = self.batch(rows);
        let _alone = self.inner.admission.alone_blocking();
        Ok(self.inner.pipeline.apply(batch, Durability::Sync, fence)?.0)
    }

    /// Fails when a key comes twice or is there in `state`.
    fn check_duplicates(&self, state: &State, rows: &Rows) -> StoreResult<()> {
        let mut before = None;
        for row in rows.iter() {
            let (_, place) = state.tables.place(self.table, row.family)?;
            let twice = before == Some((row.family, row.key));
            let found = place.with_key(row.key, |key| state.snapshot.contains_key(&place.keyspace, key));
            if twice || found.map_err(engine("looking for a duplicate"))? {
                let key = Bytes::copy_from_slice(row.key);
                return Err(StoreError::DuplicateKey { table: self.table, key });
            }
            before = Some((row.family, row.key));
        }
        Ok(())
    }

    fn batch(&self, rows: &Rows) -> WriteBatch {
        let mut batch = WriteBatch::default();
        for row in rows.iter() {
            batch.mutations.push(Mutation::Replace {
                table: self.table,
                family: row.family,
                key: Bytes::copy_from_slice(row.key),
                fragment: row.fragment.to_vec(),
            });
        }
        batch
    }
}

#[async_trait]
impl BulkLoad for Load {
    async fn write(&mut self, family: FamilyId, key: &[u8], fragment: &[u8]) -> StoreResult<()> {
        self.check(family, key, fragment)?;
        if self.buffer.bytes() + key.len() + fragment.len() > self.buffer_limit() {
            self.make_room().await?;
        }
        self.buffer.push(family, key, fragment);
        Ok(())
    }

    async fn write_rows(&mut self, family: FamilyId, rows: LoadRows) -> StoreResult<()> {
        for (key, fragment) in rows.iter() {
            self.check(family, key, fragment)?;
        }
        if self.buffer.bytes() > 0 && self.buffer.bytes() + rows.byte_len() > self.buffer_limit() {
            self.make_room().await?;
        }
        if self.buffer.bytes() == 0 {
            self.buffer = Rows::of(family, rows);
        } else {
            rows.iter().for_each(|(key, fragment)| self.buffer.push(family, key, fragment));
        }
        Ok(())
    }

    async fn finish(mut self: Box<Self>) -> StoreResult<CommitNo> {
        self.inner.check_open()?;
        self.inner.pipeline.read_only.check()?;
        self.inner.room.take(self.buffer.bytes())?;
        let inner = self.inner.clone();
        self.end_spill().await?;
        self.pass_on().await?;
        self.end_stream().await?;
        if self.runs.is_empty() && self.streamed.is_none() && self.buffer.bytes() <= inner.options.small_load_bytes {
            memtable_budget::room(&inner, self.buffer.bytes()).await?;
            let permit = inner.admission.write_large().await?;
            let commit = blocking(move || {
                self.buffer.sort();
                self.finish_small(&self.buffer)
            });
            let commit = commit.await?;
            drop(permit);
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
