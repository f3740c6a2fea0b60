//! The one place that writes rows: `write(old, new)`, in a transaction and in a bulk load.
//!
//! ```text
//!   INSERT, UPSERT, ON CONFLICT ─┐
//!   UPDATE, DELETE               ├─ Old, New ──> RowWriter ──> transaction    key, fragment, locks, conditions
//!   COPY, appenders              │                        └──> bulk load      key, fragment
//!   INSERT … SELECT, CREATE … AS ┘
//! ```
//! A write is a pair of states of one row. [`Old`] says what is known of the existing row; [`New`] is the new row, as
//! values or encoded; without a new row the write is a deletion. A change of the key is one write too: the row is
//! removed at its old key before it is added at the new one. Of several rows, all are removed before the first is
//! added, so that one statement can shift keys.
//!
//! Work that depends on rows belongs in [`RowWriter::leave`] and [`RowWriter::arrive`], which see both states: index
//! entries (`entries.rs`) and checks of the new row. Work that needs the old values of an [`Old::Unread`] row must
//! read them under the row's lock: only a table without indexes, change logs and incoming foreign keys is written
//! without a read. Bulk loads ([`BulkRows`]) include index entries and change logs; a table with foreign keys is not
//! loaded.
//!
//! Each write notes the foreign key checks that it requires and the groups of incremental materialized views that it
//! changes; the end of the statement handles both (`references`, `changed_groups.rs`).
//!
//! Only this module handles NOT NULL, CHECK, rowkeys and fragments of new rows (except COPY, `copy/rows.rs`), index
//! entries, row locks and their order, 23505, and row counts.

mod bulk;
mod changed_groups;
mod check_constraints;
mod checks;
mod dual;
mod entries;
mod generated;
mod index_exprs;
mod tally;

pub(crate) use bulk::{BulkRows, LoadBlock, add_entry};
pub(crate) use changed_groups::{ChangedGroups, GroupLog};
pub(crate) use check_constraints::Checks;
pub(crate) use dual::{CatalogOf, register_index, writing_entries};
pub(crate) use generated::{Generated, can_assign};
pub(crate) use index_exprs::{index_codec, written_indexes};
pub(crate) use tally::Tally;

use crate::Session;
use crate::block::work::Work;
use crate::dml::{FAMILY, Row, Target};
use crate::error::EngineResult;
use crate::session::running::RunGuard;
use std::sync::Arc;
use store::{Bytes, Condition};
use txn::LockMode;

/// What a write knows of the existing row.
#[derive(Debug)]
pub(crate) enum Old {
    /// Nothing: an existing row is replaced without being read.
    Unread,
    /// There must be none. The writer raises 23505 otherwise.
    Unique,
    /// There is none: it was looked up under its lock.
    Missing,
    /// This row, read under its lock.
    Row { key: Bytes, row: Row },
}

impl Old {
    /// The old row, if it was read.
    pub(crate) fn row(&self) -> Option<&Row> {
        match self {
            Self::Row { row, .. } => Some(row),
            Self::Unread | Self::Unique | Self::Missing => None,
        }
    }

    /// The key of the old row, if it was read.
    fn key(&self) -> Option<&Bytes> {
        match self {
            Self::Row { key, .. } => Some(key),
            Self::Unread | Self::Unique | Self::Missing => None,
        }
    }
}

/// The new row of a write.
#[derive(Clone, Copy, Debug)]
pub(crate) enum New<'r> {
    /// As values.
    Row(&'r NewRow),
    /// Encoded; its values were checked.
    Cells { key: &'r [u8], fragment: &'r [u8] },
}

impl New<'_> {
    fn key(&self) -> Bytes {
        match self {
            Self::Row(new) => new.key.clone(),
            Self::Cells { key, .. } => Bytes::copy_from_slice(key),
        }
    }
}

/// A row whose values were checked, with its rowkey, by which it is locked.
#[derive(Debug)]
pub(crate) struct NewRow {
    key: Bytes,
    row: Row,
}

impl NewRow {
    /// Computes the generated columns of a row, checks the row and encodes its key.
    ///
    /// # Errors
    /// 23502, 23514; a key that is too long.
    pub(crate) fn new(target: &Target, mut row: Row) -> EngineResult<Self> {
        target.compute(&mut row)?;
        target.check(&row)?;
        let key = target.codec.encode_key(&row)?.into();
        Ok(Self { key, row })
    }

    /// A row that an existing row may complete: CHECK constraints are checked on the merged row.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub(crate) fn partial(target: &Target, mut row: Row) -> EngineResult<Self> {
        target.compute(&mut row)?;
        target.check_nulls(&row)?;
        let key = target.codec.encode_key(&row)?.into();
        Ok(Self { key, row })
    }

    pub(crate) fn key(&self) -> &Bytes {
        &self.key
    }

    pub(crate) fn row(&self) -> &Row {
        &self.row
    }

    /// Its key and values, to build another row from.
    pub(crate) fn into_parts(self) -> (Bytes, Row) {
        (self.key, self.row)
    }
}

/// A change of a row that was read.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) old: Old,
    /// `None` deletes the row.
    pub(crate) new: Option<NewRow>,
}

/// Writes rows of one table in a transaction. See the module documentation; [`BulkRows`] is the counterpart for
/// loads.
pub(crate) struct RowWriter<'w> {
    target: &'w Target,
    work: &'w mut Work,
    guard: Arc<RunGuard>,
}

impl Session {
    /// A row writer for the running statement.
    pub(crate) fn row_writer<'w>(&self, work: &'w mut Work, target: &'w Target) -> RowWriter<'w> {
        RowWriter { target, work, guard: self.running() }
    }
}

impl<'w> RowWriter<'w> {
    /// As [`Session::row_writer`], for callers that hold the statement's guard.
    pub(crate) fn new(work: &'w mut Work, target: &'w Target, guard: &Arc<RunGuard>) -> Self {
        Self { target, work, guard: Arc::clone(guard) }
    }

    /// Locks rows in key order, so that two statements do not deadlock.
    ///
    /// # Errors
    /// 40P01, 55P03, 57014.
    pub(crate) async fn lock_rows<'k>(
        &mut self,
        keys: impl Iterator<Item = &'k Bytes>,
        mode: LockMode,
    ) -> EngineResult<()> {
        let mut keys: Vec<&Bytes> = keys.collect();
        keys.sort_unstable();
        for key in keys {
            self.lock_row(key, mode).await?;
        }
        Ok(())
    }

    /// Locks one row.
    ///
    /// # Errors
    /// As [`Self::lock_rows`].
    pub(crate) async fn lock_row(&mut self, key: &Bytes, mode: LockMode) -> EngineResult<()> {
        self.guard.stoppable(self.work.lock(self.target.storage, key, mode)).await
    }

    /// Writes one row, whose lock is held. Locks its new key, if the key changes.
    ///
    /// # Errors
    /// 23505, errors of locking, out of memory.
    pub(crate) async fn write(&mut self, old: &Old, new: Option<New<'_>>) -> EngineResult<()> {
        let new_key = new.as_ref().map(New::key);
        if let (Some(key), Some(new_key)) = (old.key(), &new_key)
            && key != new_key
        {
            self.lock_row(new_key, LockMode::Exclusive).await?;
        }
        let new_row = self.new_values(old, new)?;
        self.lock_entries(old.row(), new_row.as_deref()).await?;
        self.leave(old, new_key.as_ref(), new_row.as_deref()).await?;
        if let (Some(new), Some(key)) = (new, new_key) {
            self.arrive(old, key, new, new_row.as_deref()).await?;
        }
        self.note(old.row(), new_row.as_deref())
    }

    /// Notes the change for foreign keys and for incremental materialized views.
    fn note(&mut self, old: Option<&Row>, new: Option<&Row>) -> EngineResult<()> {
        self.work.changed_groups.note(self.target, old, new)?;
        self.work.references.note(self.target, old, new)
    }

    /// Writes the rows of a statement, whose locks are held. Locks their new keys.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub(crate) async fn write_all(&mut self, changes: Vec<Change>) -> EngineResult<()> {
        let new_key = |change: &'_ Change| change.new.as_ref().map(|new| new.key.clone());
        let mut wanted: Vec<Bytes> = changes.iter().filter(|it| it.moves()).filter_map(new_key).collect();
        for Change { old, new } in &changes {
            self.entry_locks(old.row(), new.as_ref().map(NewRow::row), &mut wanted)?;
        }
        self.lock_rows(wanted.iter(), LockMode::Exclusive).await?;
        for Change { old, new } in &changes {
            self.leave(old, new.as_ref().map(NewRow::key), new.as_ref().map(NewRow::row)).await?;
        }
        for Change { old, new } in changes {
            if let Some(new) = &new {
                self.arrive(&old, new.key.clone(), New::Row(new), Some(&new.row)).await?;
            }
            self.note(old.row(), new.as_ref().map(NewRow::row))?;
        }
        Ok(())
    }

    /// Whether the statement has written the row.
    ///
    /// # Errors
    /// I/O failures, if its writes were spilled to files.
    pub(crate) fn has_written(&self, key: &[u8]) -> EngineResult<bool> {
        Ok(self.work.txn.written_by_statement(self.target.storage, FAMILY, key)?)
    }

    /// As [`Self::write`], for a statement that changes more rows than fit in memory. Rows and entries with a new key
    /// are removed and set aside until [`Self::insert_pending_rows`]. The table is locked exclusively.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub(crate) async fn write_streamed(&mut self, old: &Old, new: &NewRow) -> EngineResult<()> {
        self.leave(old, Some(&new.key), Some(&new.row)).await?;
        self.note(old.row(), Some(&new.row))?;
        self.set_entries_aside(old.row(), &new.row).await?;
        if old.key().is_none_or(|key| *key == new.key) {
            return self.put_row(old, new.key.clone(), New::Row(new)).await;
        }
        let fragment = self.target.fragment(&new.row)?;
        match self.work.txn.defer_row(self.target.storage, FAMILY, new.key.clone(), fragment).await? {
            true => Ok(()),
            false => Err(self.target.duplicate(&new.key)),
        }
    }

    /// Adds the rows and entries that were set aside.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub(crate) async fn insert_pending_rows(&mut self) -> EngineResult<()> {
        let aside = self.work.txn.take_deferred();
        let mut rows = aside.rows(self.target.storage, FAMILY);
        while let Some((key, fragment)) = rows.next_row()? {
            self.refuse_newest(&key).await?;
            self.work.txn.put(self.target.storage, FAMILY, key, fragment).await?;
            self.work.tally.updated += 1;
            self.guard.check()?;
        }
        self.insert_pending_entries(&aside).await
    }

    /// Removes the row from its key, unless its new state has the same key, and removes its changed entries.
    async fn leave(&mut self, old: &Old, new_key: Option<&Bytes>, new_row: Option<&Row>) -> EngineResult<()> {
        self.remove_entries(old, new_row).await?;
        let Some(key) = old.key().filter(|key| Some(*key) != new_key) else { return Ok(()) };
        self.work.txn.delete(self.target.storage, FAMILY, key.clone()).await?;
        if new_key.is_none() {
            self.work.tally.deleted += 1;
        }
        Ok(())
    }

    /// Adds the row and its entries. `row`: its values, if entries are built from them.
    async fn arrive(&mut self, old: &Old, key: Bytes, new: New<'_>, row: Option<&Row>) -> EngineResult<()> {
        self.put_row(old, key, new).await?;
        match row {
            Some(row) => self.insert_entries(old.row(), row).await,
            None => Ok(()),
        }
    }

    async fn put_row(&mut self, old: &Old, key: Bytes, new: New<'_>) -> EngineResult<()> {
        match old {
            Old::Unique => self.refuse_existing(&key).await?,
            Old::Row { key: before, .. } if *before != key => self.refuse_newest(&key).await?,
            Old::Unread | Old::Missing | Old::Row { .. } => {}
        }
        let fragment = match new {
            New::Row(new) => self.target.fragment(&new.row)?,
            New::Cells { fragment, .. } => Bytes::copy_from_slice(fragment),
        };
        self.work.txn.put(self.target.storage, FAMILY, key, fragment).await?;
        self.work.tally.count(old);
        Ok(())
    }

    /// Raises 23505 if the key exists. Outside a transaction block the store checks this at commit, which saves a
    /// read. Not for tables with indexes, where a statement of many rows would need many conditions.
    async fn refuse_existing(&mut self, key: &Bytes) -> EngineResult<()> {
        let (table, family) = (self.target.storage, FAMILY);
        if self.work.txn.written_by_statement(table, family, key)? {
            return Err(self.target.duplicate(key));
        }
        if self.work.in_block || !self.target.indexes.is_empty() {
            return self.refuse_newest(key).await;
        }
        self.work.txn.require(Condition { table, family, key: key.clone(), expect: None });
        Ok(())
    }

    async fn refuse_newest(&mut self, key: &Bytes) -> EngineResult<()> {
        match self.work.newest(self.target.storage, FAMILY, key).await? {
            Some(_) => Err(self.target.duplicate(key)),
            None => Ok(()),
        }
    }
}

impl Change {
    /// Whether the row's key changes.
    fn moves(&self) -> bool {
        matches!((self.old.key(), &self.new), (Some(key), Some(new)) if *key != new.key)
    }
}
