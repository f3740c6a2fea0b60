//! Index entries: removed and added with their rows, in the same transaction.
//!
//! ```text
//!   lock_entries    locks the unique prefixes of the old and of the new entry against other writers
//!   entries_leave   removes the old entry
//!   entries_arrive  checks that no other row has the prefix, in the newest state; adds the new entry
//! ```
//! An index in state DeleteOnly (`catalog::IndexState`) takes no new entries, but existing entries are removed.
//!
//! The row's lock protects its entries. A unique prefix is shared by rows, so it has a lock of its own: a transaction
//! that removes an entry keeps the lock to its end, so that no other transaction relies on a removal that may be
//! rolled back. These are row locks of the table, so an exclusive table lock covers them.

use super::{New, Old, RowWriter};
use crate::EngineError;
use crate::dml::{FAMILY, Row, Target};
use crate::error::{EngineResult, Fault, fail};
use crate::references::{DeferredUnique, Modes};
use catalog::PartOf;
use index::{Entry, IndexCodec};
use std::borrow::Cow;
use store::Bytes;
use txn::{DeferredWrites, LockMode};
use types::Datum;

impl RowWriter<'_> {
    /// The values of a new row; `None` without one, and for an encoded row whose values nothing reads. A row that
    /// replaces a row that was read is always decoded: foreign keys take an old row without a new one for a deletion.
    pub(super) fn new_values<'r>(&self, old: &Old, new: Option<New<'r>>) -> EngineResult<Option<Cow<'r, Row>>> {
        match new {
            None => Ok(None),
            Some(New::Row(new)) => Ok(Some(Cow::Borrowed(&new.row))),
            Some(New::Cells { .. }) if self.target.is_plain() && old.row().is_none() => Ok(None),
            Some(New::Cells { key, fragment }) => Ok(Some(Cow::Owned(self.target.decode(key, fragment)?))),
        }
    }

    /// Locks the unique prefixes that [`Self::entry_locks`] determines.
    pub(super) async fn lock_entries(&mut self, old: Option<&Row>, new: Option<&Row>) -> EngineResult<()> {
        if !self.target.has_unique_index() {
            return Ok(());
        }
        let mut wanted = Vec::new();
        self.entry_locks(old, new, &mut wanted)?;
        self.lock_rows(wanted.iter(), LockMode::Exclusive).await
    }

    /// Locks the unique prefix of a row in the index at position `at`.
    pub(crate) async fn lock_prefix(&mut self, at: usize, row: &Row) -> EngineResult<()> {
        let Some(index) = self.target.indexes.get(at) else { return Ok(()) };
        match index.entry(row)?.and_then(|entry| unique_lock(index, &entry)) {
            Some(lock) => self.lock_row(&lock, LockMode::Exclusive).await,
            None => Ok(()),
        }
    }

    /// Adds the locks of the unique prefixes whose entries change between these states of a row.
    pub(super) fn entry_locks(&self, old: Option<&Row>, new: Option<&Row>, locks: &mut Vec<Bytes>) -> EngineResult<()> {
        for index in self.target.indexes.iter().filter(|index| index.index().unique) {
            if stays(index, old, new)? {
                continue;
            }
            for row in [old, new].into_iter().flatten() {
                let entry = index.entry(row)?;
                locks.extend(entry.and_then(|entry| unique_lock(index, &entry)));
            }
        }
        Ok(())
    }

    /// Removes the entries of a row that is deleted, or that has other entries in its new state.
    pub(super) async fn remove_entries(&mut self, old: &Old, new: Option<&Row>) -> EngineResult<()> {
        if self.target.indexes.is_empty() {
            return Ok(());
        }
        let row = match old {
            Old::Row { row, .. } => row,
            Old::Unique | Old::Missing => return Ok(()),
            Old::Unread => return fail(Fault::Internal { detail: "a row with entries is written unread".to_string() }),
        };
        for index in &self.target.indexes {
            if stays(index, Some(row), new)? {
                continue;
            }
            if let Some(entry) = index.entry(row)? {
                self.work.txn.delete(index.index().storage_id(), FAMILY, entry.key).await?;
            }
        }
        Ok(())
    }

    /// Adds the entries of a new state.
    pub(super) async fn insert_entries(&mut self, old: Option<&Row>, new: &Row) -> EngineResult<()> {
        for index in self.target.indexes_that_take_entries() {
            if stays(index, old, Some(new))? {
                continue;
            }
            let Some(entry) = index.entry(new)? else { continue };
            if let Some(prefix) = entry.unique_prefix {
                let prefix = entry.key.slice(..prefix.min(entry.key.len()));
                if let Some(other) = self.work.txn.find_newest(index.index().storage_id(), FAMILY, &prefix).await? {
                    self.reject_duplicate_entry(index, [&other, &entry.key], &prefix, &index.part_values(new)?)?;
                }
            }
            self.put_entry(index, entry).await?;
        }
        Ok(())
    }

    /// Sets the new entries of one of many rows aside until [`Self::insert_pending_entries`]: entries of later rows are
    /// removed first.
    pub(super) async fn set_entries_aside(&mut self, old: Option<&Row>, new: &Row) -> EngineResult<()> {
        for index in self.target.indexes_that_take_entries() {
            if stays(index, old, Some(new))? {
                continue;
            }
            let Some(Entry { key, fragment, .. }) = index.entry(new)? else { continue };
            // Equal entry keys come from equal rowkeys, which are reported when the rows are added.
            self.work.txn.defer_row(index.index().storage_id(), FAMILY, key, fragment).await?;
        }
        Ok(())
    }

    /// Adds the entries that were set aside, in key order: entries with one prefix are adjacent.
    pub(super) async fn insert_pending_entries(&mut self, aside: &DeferredWrites) -> EngineResult<()> {
        for index in &self.target.indexes {
            let storage = index.index().storage_id();
            let mut entries = aside.rows(storage, FAMILY);
            let mut before: Option<Bytes> = None;
            while let Some((key, fragment)) = entries.next_row()? {
                let unique_prefix = index.unique_prefix(&key)?;
                if let Some(prefix) = unique_prefix {
                    let prefix = key.slice(..prefix.min(key.len()));
                    let other = match &before {
                        Some(before) if before.starts_with(&prefix) => Some(before.clone()),
                        _ => self.work.txn.find_before(storage, FAMILY, &prefix).await?,
                    };
                    if let Some(other) = other {
                        let values = index.part_values_of_key(&key)?;
                        self.reject_duplicate_entry(index, [&other, &key], &prefix, &values)?;
                    }
                    before = Some(key.clone());
                }
                self.put_entry(index, Entry { key, fragment, unique_prefix }).await?;
                self.guard.check()?;
            }
        }
        Ok(())
    }

    /// Raises 23505 for two entries with one prefix. If the constraint is deferred, notes them for the end of the
    /// block.
    fn reject_duplicate_entry(
        &mut self,
        index: &IndexCodec,
        entries: [&Bytes; 2],
        prefix: &Bytes,
        values: &[Datum],
    ) -> EngineResult<()> {
        let definition = index.index();
        let fault = self.target.duplicate_fault(index, values);
        let late = |modes: &Modes, constraint| definition.deferrable && modes.of(constraint, definition.deferred);
        match (&self.work.modes, definition.constraint) {
            (Some(modes), Some(constraint)) if late(modes, constraint) => {
                for key in entries {
                    self.work.late_uniques.push(DeferredUnique {
                        constraint,
                        deferred: definition.deferred,
                        storage: definition.storage_id(),
                        key: key.clone(),
                        prefix: prefix.clone(),
                        fault: fault.clone(),
                    });
                }
                Ok(())
            }
            _ => fail(fault),
        }
    }

    /// Adds an entry so that the next one with its unique prefix finds it.
    async fn put_entry(&mut self, index: &IndexCodec, entry: Entry) -> EngineResult<()> {
        let (storage, Entry { key, fragment, unique_prefix }) = (index.index().storage_id(), entry);
        match unique_prefix {
            Some(prefix) => self.work.txn.put_with_prefix(storage, FAMILY, (key, fragment), prefix).await?,
            None => self.work.txn.put(storage, FAMILY, key, fragment).await?,
        }
        Ok(())
    }
}

impl Target {
    /// Whether nothing reads the values of new rows.
    fn is_plain(&self) -> bool {
        self.indexes.is_empty() && self.group_logs.is_empty() && self.table.foreign_keys.is_empty()
    }

    /// Whether a row can be written without reading the row under its key: nothing depends on the old values.
    pub(crate) fn is_written_blindly(&self) -> bool {
        self.indexes.is_empty() && self.group_logs.is_empty() && !self.relations.is_referred_to()
    }

    /// Indexes that take entries of new rows.
    pub(super) fn indexes_that_take_entries(&self) -> impl Iterator<Item = &IndexCodec> {
        self.indexes.iter().filter(|index| index.index().state.takes_entries())
    }

    pub(crate) fn has_unique_index(&self) -> bool {
        self.indexes.iter().any(|index| index.index().unique)
    }

    /// The 23505 error for values that a unique index has already.
    pub(crate) fn duplicate_in(&self, index: &IndexCodec, values: &[Datum]) -> EngineError {
        self.duplicate_fault(index, values).into()
    }

    fn duplicate_fault(&self, index: &IndexCodec, values: &[Datum]) -> Fault {
        let (columns, values) = self.key_of(index, values);
        let (schema, table) = (self.schema.clone(), self.table.name.clone());
        let constraint = self.table.shown_name_of(index.index()).to_owned();
        Fault::DuplicateKey { schema, table, constraint, columns, values }
    }

    /// The columns of an index and their values, for error messages.
    pub(crate) fn key_of(&self, index: &IndexCodec, values: &[Datum]) -> (String, String) {
        let (mut names, mut shown) = (Vec::new(), Vec::new());
        for (part, value) in index.index().parts.iter().zip(values) {
            match &part.of {
                PartOf::Column(id) => {
                    let Some(column) = self.table.column(*id) else { continue };
                    names.push(types::ident::quote(&column.name).to_string());
                    shown.push(super::checks::print(column, value));
                }
                PartOf::Expression(expression) => {
                    names.push(expression.as_part(true));
                    shown.push(super::checks::print_as(&expression.ty, value));
                }
            }
        }
        (names.join(", "), shown.join(", "))
    }
}

/// Whether both states of the row have the same entry.
fn stays(index: &IndexCodec, old: Option<&Row>, new: Option<&Row>) -> EngineResult<bool> {
    match (old, new) {
        (Some(old), Some(new)) => Ok(index.is_same(old, new)?),
        _ => Ok(false),
    }
}

/// The lock key of a unique prefix: the prefix, then the OID of the index, to distinguish indexes. It may equal a
/// rowkey, in which case two writers wait for each other without need.
fn unique_lock(index: &IndexCodec, entry: &Entry) -> Option<Bytes> {
    let prefix = entry.key.get(..entry.unique_prefix?)?;
    Some([prefix, &index.index().oid.to_be_bytes()].concat().into())
}
