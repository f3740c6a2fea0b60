//! Rows of a bulk load, none of which may exist before, with the entries of their indexes and the rows of their
//! change logs.
//!
//! ```text
//!   row ──> rowkey, fragment ──────────────> load ──┐
//!                 ├──EntryMaker──> entries ──> load ──┼──> one commit
//!                 └──ChangedGroups──> groups ──> load ──┘
//! ```
//! The load checks unique indexes, against its own sorted entries and against the existing ones.

use super::changed_groups::ChangedGroups;
use super::{New, Old, Tally};
use crate::dml::{FAMILY, Target};
use crate::error::EngineResult;
use crate::{EngineError, Session};
use catalog::{IndexState, RowIds, Table};
use index::{EntryMaker, IndexCodec};
use std::sync::Arc;
use store::{BulkLoad, CommitNo, LoadMemory, LoadRows, LoadTable, OnDuplicate, StoreError, TableId};

/// Bytes of entries that are buffered for an index.
const HANDED_ON: usize = 64 << 10;

/// A bulk load in progress. Dropping it discards it.
pub(crate) struct BulkRows {
    load: Box<dyn BulkLoad>,
    entries: Option<Entries>,
    /// The groups to log; `None` if the table has no change log.
    groups: Option<ChangedGroups>,
    tally: Tally,
    /// Encoding buffer, reused for each row.
    fragment: Vec<u8>,
}

/// Entries that are not passed to the load yet.
struct Entries {
    maker: EntryMaker,
    /// Storage of each index.
    tables: Vec<TableId>,
    rows: Vec<LoadRows>,
}

/// Rows that were encoded elsewhere, and their entries: one list for each index of [`Target::entry_maker`].
pub(crate) struct LoadBlock {
    pub(crate) rows: LoadRows,
    pub(crate) entries: Vec<LoadRows>,
}

impl BulkRows {
    /// A load of rows without index entries. The load accounts for `memory`; the caller excludes other writers.
    pub(crate) fn new(mut load: Box<dyn BulkLoad>, memory: Arc<dyn LoadMemory>) -> Self {
        load.hold_memory(memory);
        Self { load, entries: None, groups: None, tally: Tally::default(), fragment: Vec::new() }
    }

    /// Adds index entries and change logs to the load. Must be called before the first row is written.
    ///
    /// # Errors
    /// Errors of the store; an index whose expressions are not compiled.
    pub(crate) fn with_entries(&mut self, target: &Target) -> EngineResult<()> {
        for log in &target.group_logs {
            let on_duplicate = OnDuplicate::Replace;
            self.load.add_table(LoadTable { table: log.storage(), on_duplicate, unique: None })?;
            self.groups = Some(ChangedGroups::default());
        }
        let Some(maker) = target.entry_maker()? else { return Ok(()) };
        for index in maker.indexes() {
            self.load.add_table(entries_of(index))?;
        }
        let tables: Vec<TableId> = maker.indexes().map(|index| index.index().storage_id()).collect();
        let rows = vec![LoadRows::default(); tables.len()];
        self.entries = Some(Entries { maker, tables, rows });
        Ok(())
    }

    /// Writes one row, as [`super::RowWriter::write`] does with [`Old::Unique`].
    ///
    /// # Errors
    /// 23505 if the conflict is known already, and the store's failures.
    pub(crate) async fn write(&mut self, target: &Target, new: New<'_>) -> EngineResult<()> {
        let (key, fragment) = match new {
            New::Row(new) => {
                self.fragment.clear();
                target.fragment_into(&new.row, &mut self.fragment)?;
                (new.key.as_ref(), self.fragment.as_slice())
            }
            New::Cells { key, fragment } => (key, fragment),
        };
        if let Some(Entries { maker, rows, .. }) = &mut self.entries {
            maker.make(key, fragment, |index, key, fragment| add_entry(rows, index, key, fragment))?;
        }
        match (&mut self.groups, new) {
            (Some(groups), New::Row(new)) => groups.note(target, None, Some(&new.row))?,
            (Some(groups), New::Cells { key, fragment }) => groups.note_stored(target, key, fragment)?,
            (None, _) => {}
        }
        self.load.write(FAMILY, key, fragment).await.map_err(|error| target.of_load(error))?;
        self.tally.count(&Old::Unique);
        self.hand_on(target, HANDED_ON).await
    }

    /// Writes rows and entries that were encoded elsewhere.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub(crate) async fn write_block(&mut self, target: &Target, block: LoadBlock) -> EngineResult<()> {
        let count = block.rows.len() as u64;
        if let Some(groups) = &mut self.groups {
            block.rows.iter().try_for_each(|(key, fragment)| groups.note_stored(target, key, fragment))?;
        }
        self.load.write_rows(FAMILY, block.rows).await.map_err(|error| target.of_load(error))?;
        if let Some(Entries { tables, .. }) = &self.entries {
            for (table, rows) in tables.iter().zip(block.entries) {
                self.load.write_rows_of(*table, FAMILY, rows).await.map_err(|error| target.of_load(error))?;
            }
        }
        self.tally.inserted += count;
        Ok(())
    }

    /// Makes all rows durable and visible, with their entries. `ids` provides keys for change log rows.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub(crate) async fn finish(mut self, target: &Target, ids: &RowIds) -> EngineResult<(CommitNo, Tally)> {
        self.hand_on(target, 1).await?;
        for (log, key, fragment) in self.groups.take().unwrap_or_default().into_rows(ids).await? {
            let mut row = LoadRows::default();
            row.push(&key, &fragment);
            self.load.write_rows_of(log, FAMILY, row).await?;
        }
        let commit = self.load.finish().await.map_err(|error| target.of_load(error))?;
        Ok((commit, self.tally))
    }

    /// Passes buffered entries to the load, for each index with at least `bytes` bytes of them.
    async fn hand_on(&mut self, target: &Target, bytes: usize) -> EngineResult<()> {
        let Some(Entries { tables, rows, .. }) = &mut self.entries else { return Ok(()) };
        for (table, rows) in tables.iter().zip(rows).filter(|(_, rows)| rows.byte_len() >= bytes) {
            let handed = self.load.write_rows_of(*table, FAMILY, rows.take()).await;
            handed.map_err(|error| target.of_load(error))?;
        }
        Ok(())
    }
}

/// Adds an entry to the entries of its index.
pub(crate) fn add_entry(rows: &mut [LoadRows], index: usize, key: &[u8], fragment: &[u8]) {
    if let Some(rows) = rows.get_mut(index) {
        rows.push(key, fragment);
    }
}

/// The entries of an index as a table of a load. Equal entry keys come from equal rowkeys, which the load of the
/// table's own rows reports.
fn entries_of(index: &IndexCodec) -> LoadTable {
    let codec = index.clone();
    let unique =
        move |key: &[u8]| codec.unique_prefix(key).map_err(|error| StoreError::Corrupted { detail: error.to_string() });
    LoadTable {
        table: index.index().storage_id(),
        on_duplicate: OnDuplicate::Replace,
        unique: index.index().unique.then(|| -> store::UniquePrefix { Arc::new(unique) }),
    }
}

impl Session {
    /// Whether rows of the table can be loaded as sorted runs, with their index entries.
    pub(crate) fn is_loadable(&self, table: &Table) -> bool {
        let built = |state: IndexState| !matches!(state, IndexState::DeleteOnly | IndexState::WriteOnly);
        let with_entries = || self.engine.dual().is_none() && table.indexes.iter().all(|index| built(index.state));
        self.engine.store().capabilities().bulk_load
            && table.foreign_keys.is_empty()
            && (table.indexes.is_empty() || with_entries())
    }
}

impl Target {
    /// Builds the index entries of new rows; `None` if no index takes entries.
    ///
    /// # Errors
    /// An index definition that is inconsistent with the catalog.
    pub(crate) fn entry_maker(&self) -> EngineResult<Option<EntryMaker>> {
        let mut indexes = self.indexes_that_take_entries().peekable();
        match indexes.peek() {
            None => Ok(None),
            Some(_) => Ok(Some(EntryMaker::new(&self.codec, indexes)?)),
        }
    }

    /// Converts an error of a load: an existing rowkey or existing unique values are 23505.
    fn of_load(&self, error: StoreError) -> EngineError {
        let StoreError::DuplicateKey { table, key } = &error else { return self.in_words(error.into()) };
        let index = self.indexes.iter().find(|index| index.index().storage_id() == *table);
        match index.map(|index| (index, index.part_values_of_key(key))) {
            Some((index, Ok(values))) => self.duplicate_in(index, &values),
            _ => self.in_words(error.into()),
        }
    }
}
