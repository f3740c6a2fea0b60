//! Bulk load: many rows into one table, and entries of its indexes into theirs, invisible until the end, and then there as
//! one commit.
//!
//! ```text
//!   write ──> buffer ──(full)──> sorted run on disk        table.rs, rows.rs, run.rs: each table for itself
//!                 └──────┬───────────┘
//!   finish     small: one ordinary batch                   small.rs
//!              large: merge ──> ingestion into keyspaces   merge.rs, install.rs, append.rs
//!   in key order, into an empty table: ingestion at once   stream.rs
//! ```
//! Others may write to the tables meanwhile: what they committed before the end is merged with, and the end itself is
//! fenced by each table's last commit.
//!
//! A load that is dropped has touched nothing but its runs, which go with it; a crash leaves the runs
//! (removed at the next open) and perhaps keyspaces that no table names (likewise).

mod append;
mod duplicates;
mod install;
mod merge;
mod rows;
mod run;
mod small;
mod stream;
mod table;
mod writer;

use crate::inner::Inner;
use crate::limits::{check_fragment, check_key, check_own_key};
use crate::memtable_budget;
use crate::store::blocking;
use async_trait::async_trait;
use install::Part;
use std::sync::Arc;
use store::{BulkLoad, CommitNo, FamilyId, LoadRows, LoadTable, OnDuplicate, StoreError, StoreResult, TableId};
use table::TableLoad;

/// A load under way.
pub(crate) struct Load {
    inner: Arc<Inner>,
    /// The one that it was begun for is the first.
    tables: Vec<TableLoad>,
}

impl Load {
    /// Begins a load.
    ///
    /// # Errors
    /// [`StoreError::NoSuchTable`].
    pub(crate) fn new(inner: Arc<Inner>, table: TableId, on_duplicate: OnDuplicate) -> StoreResult<Self> {
        let first = TableLoad::new(inner.clone(), LoadTable { table, on_duplicate, unique: None }, true)?;
        Ok(Self { inner, tables: vec![first] })
    }

    /// Bytes that all buffers hold.
    fn buffered(&self) -> usize {
        self.tables.iter().map(TableLoad::buffered).sum()
    }
}

#[async_trait]
impl BulkLoad for Load {
    async fn write(&mut self, family: FamilyId, key: &[u8], fragment: &[u8]) -> StoreResult<()> {
        match self.tables.first_mut() {
            Some(first) => first.write(family, key, fragment).await,
            None => Err(StoreError::Closed),
        }
    }

    async fn write_rows(&mut self, family: FamilyId, rows: LoadRows) -> StoreResult<()> {
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
        match self.tables.iter_mut().find(|of| of.id() == table) {
            Some(of) => of.write_rows(family, rows).await,
            None => Err(StoreError::NoSuchTable { table }),
        }
    }

    async fn finish(mut self: Box<Self>) -> StoreResult<CommitNo> {
        self.inner.check_open()?;
        self.inner.pipeline.read_only.check()?;
        self.inner.room.take(self.buffered())?;
        for table in &mut self.tables {
            table.end().await?;
        }
        let Self { inner, mut tables } = *self;
        let buffered: usize = tables.iter().map(TableLoad::buffered).sum();
        let commit = match tables.iter().all(TableLoad::is_in_memory) && buffered <= inner.options.small_load_bytes {
            true => {
                memtable_budget::room(&inner, buffered).await?;
                let permit = inner.admission.write_large().await?;
                let done = inner.clone();
                let commit = blocking(move || {
                    tables.iter_mut().for_each(TableLoad::sort);
                    small::finish(&done, &tables)
                });
                let commit = commit.await?;
                drop(permit);
                commit
            }
            false => install::install(&inner, tables.into_iter().map(Part::new).collect()).await?,
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
