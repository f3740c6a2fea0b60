//! Bulk load: many rows into one table, and entries of its indexes into theirs, invisible until the end, and then there as
//! one commit.
//!
//! ```text
//!   write ──> buffer ──(full)──> sorted run on disk        table.rs, rows.rs, run.rs: each table for itself
//!                 └──────┬───────────┘
//!   finish     small: one ordinary batch                   small.rs
//!              large: merge ──> ingestion into keyspaces   merge.rs, install.rs, moving.rs, append.rs
//!   in key order, into an empty table: ingestion at once   stream.rs
//! ```
//! Others may write to the tables meanwhile: what they committed before the end is merged with, and the end itself is
//! fenced by each table's last commit.
//!
//! A load that is dropped has touched nothing but its runs, which go with it; a crash leaves the runs
//! (removed at the next open) and perhaps keyspaces that no table names (likewise).

pub(crate) mod ingestion;

mod append;
#[cfg(test)]
mod bed;
mod duplicates;
mod install;
mod loaded;
mod memory;
mod merge;
mod moving;
mod packed;
mod packing;
mod rows;
mod run;
mod small;
mod stream;
mod table;
mod writer;

use crate::inner::Inner;
use crate::limits::{check_fragment, check_key, check_own_key};
use crate::memtables::budget;
use crate::store::blocking;
use async_trait::async_trait;
use install::Part;
use memory::Memory;
use std::sync::Arc;
use store::{
    BulkLoad, CommitNo, FamilyId, LoadMemory, LoadRows, LoadTable, OnDuplicate, StoreError, StoreResult, TableId,
};
use table::TableLoad;

/// A load under way.
pub(crate) struct Load {
    inner: Arc<Inner>,
    /// The one that it was begun for is the first.
    tables: Vec<TableLoad>,
    memory: Memory,
}

/// With fewer bytes of rows in a buffer a run is not worth while,
const SMALLEST_RUN: usize = 1 << 20;
/// and with fewer than these not even where memory is refused.
const RUN_OF_NEED: usize = 64 << 10;
/// A row of a small load is there once more in its batch, and once as fjall takes it.
const TIMES_IN_A_BATCH: usize = 2;

impl Load {
    /// Begins a load.
    ///
    /// # Errors
    /// [`StoreError::NoSuchTable`].
    pub(crate) fn new(inner: Arc<Inner>, table: TableId, on_duplicate: OnDuplicate) -> StoreResult<Self> {
        let first = TableLoad::new(inner.clone(), LoadTable { table, on_duplicate, unique: None }, true)?;
        Ok(Self { inner, tables: vec![first], memory: Memory::default() })
    }

    /// Bytes that all buffers hold.
    fn buffered(&self) -> usize {
        self.tables.iter().map(TableLoad::buffered).sum()
    }

    /// Sees to the memory of so many rows of so many bytes in the table at `at`: the largest buffers are written to disk when
    /// it is short.
    async fn room_for(&mut self, at: usize, rows: usize, bytes: usize) -> StoreResult<()> {
        if self.hold_with(at, rows, bytes) {
            return Ok(());
        }
        for least in [SMALLEST_RUN, RUN_OF_NEED] {
            let is_long = |table: &&mut TableLoad| table.buffered() >= least;
            while let Some(table) = self.tables.iter_mut().filter(is_long).max_by_key(|table| table.buffered()) {
                table.empty().await?;
                if self.hold_with(at, rows, bytes) {
                    return Ok(());
                }
            }
        }
        Err(StoreError::NoMemory { bytes: self.allocated() + bytes })
    }

    fn hold_with(&mut self, at: usize, rows: usize, bytes: usize) -> bool {
        let all = self.tables.iter().enumerate().map(|(number, table)| match number == at {
            true => table.allocated_with(rows, bytes),
            false => table.allocated(),
        });
        self.memory.hold(all.sum())
    }

    /// Bytes of memory that rows have.
    fn allocated(&self) -> usize {
        self.tables.iter().map(TableLoad::allocated).sum()
    }

    /// All rows are few, and there is memory for them as a batch.
    fn is_small(&mut self) -> bool {
        let buffered = self.buffered();
        self.tables.iter().all(TableLoad::is_in_memory)
            && buffered <= self.inner.options.small_load_bytes
            && self.memory.hold(self.allocated() + TIMES_IN_A_BATCH * buffered)
    }

    /// Ends a load of many rows.
    async fn finish_large(mut self) -> StoreResult<CommitNo> {
        let reading: usize = self.tables.iter().filter(|table| !table.runs.is_empty()).map(TableLoad::memory).sum();
        // Without that memory runs are read in small pieces.
        let is_short = !self.memory.hold(self.allocated() + reading);
        let Self { inner, tables, memory: _held } = self;
        let part = move |table: TableLoad| {
            let memory = if is_short { 0 } else { table.memory() };
            Part::new(table, memory)
        };
        // Their last rows are sorted.
        let parts = blocking(move || Ok(tables.into_iter().map(part).collect())).await?;
        install::install(&inner, parts).await
    }

    /// Ends a load of few rows.
    async fn finish_small(self) -> StoreResult<CommitNo> {
        budget::room(&self.inner, self.buffered()).await?;
        let Self { inner, mut tables, memory } = self;
        let _permit = inner.admission.write_large().await?;
        let done = inner.clone();
        let commit = blocking(move || {
            let _held = memory;
            tables.iter_mut().for_each(TableLoad::sort);
            small::finish(&done, &tables)
        });
        commit.await
    }
}

#[async_trait]
impl BulkLoad for Load {
    async fn write(&mut self, family: FamilyId, key: &[u8], fragment: &[u8]) -> StoreResult<()> {
        self.room_for(0, 1, key.len() + fragment.len()).await?;
        match self.tables.first_mut() {
            Some(first) => first.write(family, key, fragment).await,
            None => Err(StoreError::Closed),
        }
    }

    async fn write_rows(&mut self, family: FamilyId, rows: LoadRows) -> StoreResult<()> {
        self.room_for(0, rows.len(), rows.byte_len()).await?;
        match self.tables.first_mut() {
            Some(first) => first.write_rows(family, rows).await,
            None => Err(StoreError::Closed),
        }
    }

    fn add_table(&mut self, table: LoadTable) -> StoreResult<()> {
        self.tables.push(TableLoad::new(self.inner.clone(), table, false)?);
        let tables = self.tables.len();
        self.tables.iter_mut().for_each(|table| table.share_memory(tables));
        Ok(())
    }

    async fn write_rows_of(&mut self, table: TableId, family: FamilyId, rows: LoadRows) -> StoreResult<()> {
        let Some(at) = self.tables.iter().position(|of| of.id() == table) else {
            return Err(StoreError::NoSuchTable { table });
        };
        self.room_for(at, rows.len(), rows.byte_len()).await?;
        match self.tables.get_mut(at) {
            Some(of) => of.write_rows(family, rows).await,
            None => Err(StoreError::NoSuchTable { table }),
        }
    }

    fn hold_memory(&mut self, memory: Arc<dyn LoadMemory>) {
        self.memory = Memory::of(memory);
    }

    async fn finish(mut self: Box<Self>) -> StoreResult<CommitNo> {
        self.inner.check_open()?;
        self.inner.pipeline.read_only.check()?;
        self.inner.room.take(self.buffered())?;
        for table in &mut self.tables {
            table.end().await?;
        }
        let inner = self.inner.clone();
        let commit = match self.is_small() {
            true => self.finish_small().await?,
            false => self.finish_large().await?,
        };
        inner.pipeline.group_sync.sync(commit).await?;
        Ok(commit)
    }
}

/// Refuses what the store cannot keep.
fn check(key: &[u8], fragment: &[u8]) -> StoreResult<()> {
    check_key(key)?;
    check_own_key(key)?;
    check_fragment(fragment)
}
