//! Bulk load: loads many rows into one table, and entries into its indexes, as one commit. The rows are invisible until
//! the end.
//!
//! ```text
//!   write ──> buffer, packed rows ──(full)──> sorted run on disk        table.rs, rows.rs, packed.rs, run.rs:
//!                 └──────┬────────────────────────┘                     separate for each table
//!   finish     small: one ordinary batch                   small.rs
//!              large: merge ──> ingestion into keyspaces   merge.rs, install.rs, moving.rs, append.rs
//!   in key order, into an empty table: ingestion at once   stream.rs
//! ```
//! Other commits may write to the tables meanwhile. Their rows are merged if they were committed before the end, and
//! the end is fenced by each table's last commit.
//!
//! A dropped load has written only its runs, which are deleted. A crash leaves runs and possibly keyspaces that no
//! table refers to; the next open deletes them.

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

/// A running load.
pub(crate) struct Load {
    inner: Arc<Inner>,
    /// The first table is the one that the load was begun for.
    tables: Vec<TableLoad>,
    memory: Memory,
}

/// Minimum bytes in a buffer for a run,
const SMALLEST_RUN: usize = 1 << 20;
/// and the minimum if memory is refused.
const SMALLEST_FORCED_RUN: usize = 64 << 10;
/// Copies of a row in a small load besides the buffer: in the batch, and encoded for fjall.
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

    /// Bytes of rows in all buffers.
    fn buffered(&self) -> usize {
        self.tables.iter().map(TableLoad::buffered).sum()
    }

    /// Reserves memory for `rows` rows of `bytes` bytes in the table at `at`. If that exceeds the limit, writes the
    /// largest buffers to disk.
    async fn room_for(&mut self, at: usize, rows: usize, bytes: usize) -> StoreResult<()> {
        if self.hold_with(at, rows, bytes) {
            return Ok(());
        }
        for least in [SMALLEST_RUN, SMALLEST_FORCED_RUN] {
            let is_long = |table: &&mut TableLoad| table.held() >= least;
            while let Some(table) = self.tables.iter_mut().filter(is_long).max_by_key(|table| table.held()) {
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

    /// Allocated bytes of all rows.
    fn allocated(&self) -> usize {
        self.tables.iter().map(TableLoad::allocated).sum()
    }

    /// Returns true if the rows are few and the memory for a batch can be reserved.
    fn is_small(&mut self) -> bool {
        let buffered = self.buffered();
        self.tables.iter().all(TableLoad::is_buffered)
            && buffered <= self.inner.options.small_load_bytes
            && self.memory.hold(self.allocated() + TIMES_IN_A_BATCH * buffered)
    }

    /// Ends a load of many rows.
    async fn finish_large(mut self) -> StoreResult<CommitNo> {
        let reading: usize = self.tables.iter().filter(|table| !table.runs.is_empty()).map(TableLoad::memory).sum();
        // If this memory is refused, runs are read with minimal buffers.
        let is_short = !self.memory.hold(self.allocated() + reading);
        let Self { inner, tables, memory: _held } = self;
        let part = move |table: TableLoad| {
            let memory = if is_short { 0 } else { table.memory() };
            Part::new(table, memory)
        };
        // Sorts the rows in memory, so it runs on a blocking thread.
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

/// Checks the limits of keys and fragments.
fn check(key: &[u8], fragment: &[u8]) -> StoreResult<()> {
    check_key(key)?;
    check_own_key(key)?;
    check_fragment(fragment)
}
