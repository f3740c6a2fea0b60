//! What incremental materialized views are to know of the rows that a statement has written.
//!
//! ```text
//!   row writer ──old row, new row──> ChangedGroups ──end of the statement──> a row of the log for each group
//! ```
//! A row that comes, goes or changes touches the group that it was in and the one that it is in. Each group is noted once for a
//! statement, as the values of the columns that the grouping expressions name; the expressions are computed by the refresh, so
//! that none of them makes a write fail. Of a statement that touches more groups than [`MOST_BYTES`] hold all is noted as changed.

use crate::Session;
use crate::block::work::Work;
use crate::dml::{FAMILY, Row, Target};
use crate::error::EngineResult;
use catalog::row_codec::encode_cell;
use catalog::{Column, ColumnId, RowCodec, RowIds, Table, key_keeps_value};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use store::{Bytes, TableId};
use types::Datum;

/// Memory for the groups of one log.
const MOST_BYTES: usize = 1 << 20;
/// What an entry of a set costs besides its bytes.
const EACH: usize = 64;

/// The change log of a table, ready to be written.
#[derive(Debug)]
pub(crate) struct GroupLog {
    codec: RowCodec,
    storage: TableId,
    /// Columns that the view reads, by their places in the table.
    reads: Vec<(usize, Column)>,
    /// Places of the columns of the groups.
    groups: Vec<usize>,
}

impl GroupLog {
    /// Those of a table.
    ///
    /// # Errors
    /// A definition that the catalog would not have made.
    pub(crate) fn of(table: &Table) -> EngineResult<Vec<Arc<Self>>> {
        let place = |id: &ColumnId| table.columns.iter().position(|column| column.id == *id);
        let log = |log: &catalog::ChangeLog| -> EngineResult<Arc<Self>> {
            let reads = log.reads.iter().filter_map(|id| Some((place(id)?, table.column(*id)?.clone())));
            Ok(Arc::new(Self {
                codec: RowCodec::new(&Arc::new(log.rows(table)))?,
                storage: log.storage_id(),
                reads: reads.collect(),
                groups: log.groups.iter().filter_map(place).collect(),
            }))
        };
        table.change_logs.iter().map(log).collect()
    }

    /// Where its rows are.
    pub(super) fn storage(&self) -> TableId {
        self.storage
    }

    /// Is the view the same with either row?
    fn is_same(&self, old: &Row, new: &Row) -> EngineResult<bool> {
        for (at, column) in &self.reads {
            let (old, new) = (old.get(*at).unwrap_or(&Datum::Null), new.get(*at).unwrap_or(&Datum::Null));
            if old != new || !(old.is_null() || key_keeps_value(column.ty) || has_same_bytes(column, old, new)?) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The row of the log for the group of this one; without one, for all groups.
    fn fragment(&self, row: Option<&Row>) -> EngineResult<Vec<u8>> {
        let mut values = vec![Datum::Null, Datum::Bool(row.is_none())];
        values.extend(self.groups.iter().map(|at| row.and_then(|row| row.get(*at)).cloned().unwrap_or(Datum::Null)));
        Ok(self.codec.encode_fragment(&values)?)
    }

    fn key(&self, id: i64) -> EngineResult<Bytes> {
        let mut key = Vec::with_capacity(8);
        self.codec.encode_key_values(&[Datum::Int8(id)], &mut key)?;
        Ok(key.into())
    }
}

/// Equal values may look different, as `1.0` and `1.00` do.
fn has_same_bytes(column: &Column, old: &Datum, new: &Datum) -> EngineResult<bool> {
    let mut cells = [Vec::new(), Vec::new()];
    for (cell, value) in cells.iter_mut().zip([old, new]) {
        encode_cell(&column.name, &column.ty, value, cell)?;
    }
    let [old, new] = cells;
    Ok(old == new)
}

/// The groups that a statement has changed, by the storage of their log.
#[derive(Debug, Default)]
pub(crate) struct ChangedGroups(BTreeMap<TableId, OfLog>);

#[derive(Debug)]
struct OfLog {
    log: Arc<GroupLog>,
    /// Rows of the log; `None`: all groups.
    fragments: Option<HashSet<Vec<u8>>>,
    bytes: usize,
}

impl ChangedGroups {
    /// Notes that a row of the target has changed.
    ///
    /// # Errors
    /// A value that cannot be written.
    pub(super) fn note(&mut self, target: &Target, old: Option<&Row>, new: Option<&Row>) -> EngineResult<()> {
        for log in &target.group_logs {
            if let (Some(old), Some(new)) = (old, new)
                && log.is_same(old, new)?
            {
                continue;
            }
            let made = || OfLog { log: Arc::clone(log), fragments: Some(HashSet::new()), bytes: 0 };
            let noted = self.0.entry(log.storage).or_insert_with(made);
            for row in [old, new].into_iter().flatten() {
                noted.add(row)?;
            }
        }
        Ok(())
    }

    /// Notes a row of the target that was not there before, given as the store has it.
    ///
    /// # Errors
    /// A row that cannot be read, or a value that cannot be written.
    pub(super) fn note_stored(&mut self, target: &Target, key: &[u8], fragment: &[u8]) -> EngineResult<()> {
        let is_full = |log: &Arc<GroupLog>| self.0.get(&log.storage).is_some_and(|noted| noted.fragments.is_none());
        if target.group_logs.iter().all(is_full) {
            return Ok(());
        }
        let row = target.codec.decode_full(key, fragment)?;
        self.note(target, None, Some(&row))
    }

    /// The rows of the logs: each with where it goes, under an id of its own.
    ///
    /// # Errors
    /// A value that cannot be written; no more ids.
    pub(super) async fn into_rows(self, ids: &RowIds) -> EngineResult<Vec<(TableId, Bytes, Vec<u8>)>> {
        let mut rows = Vec::new();
        for (storage, changed) in self.0 {
            let log = Arc::clone(&changed.log);
            let fragments = changed.into_fragments()?;
            let count = u32::try_from(fragments.len()).unwrap_or(u32::MAX);
            for (fragment, id) in fragments.into_iter().zip(ids.reserve(count).await?) {
                rows.push((storage, log.key(id)?, fragment));
            }
        }
        Ok(rows)
    }
}

impl OfLog {
    fn add(&mut self, row: &Row) -> EngineResult<()> {
        let Some(fragments) = &mut self.fragments else { return Ok(()) };
        let fragment = self.log.fragment(Some(row))?;
        let bytes = fragment.len() + EACH;
        if fragments.insert(fragment) {
            self.bytes += bytes;
        }
        if self.bytes > MOST_BYTES {
            self.fragments = None;
        }
        Ok(())
    }

    fn into_fragments(self) -> EngineResult<Vec<Vec<u8>>> {
        match self.fragments {
            Some(fragments) => Ok(fragments.into_iter().collect()),
            None => Ok(vec![self.log.fragment(None)?]),
        }
    }
}

impl Session {
    /// Writes what the statement has noted into the logs. Nobody else writes under the new row ids, so nothing is locked.
    ///
    /// # Errors
    /// Those of writing rows.
    pub(crate) async fn log_changed_groups(&mut self, work: &mut Work) -> EngineResult<()> {
        let changed = std::mem::take(&mut work.changed_groups);
        for (log, key, fragment) in changed.into_rows(self.engine.catalog().row_ids()).await? {
            work.txn.put(log, FAMILY, key, fragment.into()).await?;
        }
        Ok(())
    }
}
