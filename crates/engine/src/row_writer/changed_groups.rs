//! The groups of incremental materialized views that a statement changes.
//!
//! ```text
//!   row writer ──old row, new row──> ChangedGroups ──end of the statement──> a row of the log for each group
//! ```
//! Inserting, deleting or changing a row changes its old and its new group. Each group is noted once per statement,
//! as the values of the columns that the grouping expressions read; the refresh evaluates the expressions, so that
//! none of them makes a write fail. If a statement changes more groups than fit in [`MOST_BYTES`], all groups are
//! noted as changed.

use crate::Session;
use crate::block::work::Work;
use crate::dml::{FAMILY, Row, Target};
use crate::error::EngineResult;
use catalog::row_codec::encode_cell;
use catalog::{Column, ColumnId, RowCodec, RowIds, Table, key_preserves_value};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use store::{Bytes, TableId};
use types::Datum;

/// Maximum memory for the groups of one log.
const MOST_BYTES: usize = 1 << 20;
/// Estimated overhead of a set element.
const EACH: usize = 64;

/// A compiled change log of a table.
#[derive(Debug)]
pub(crate) struct GroupLog {
    codec: RowCodec,
    storage: TableId,
    /// Columns that the view reads, with their positions in the table.
    reads: Vec<(usize, Column)>,
    /// Positions of the columns that determine the group.
    groups: Vec<usize>,
}

impl GroupLog {
    /// The change logs of a table.
    ///
    /// # Errors
    /// A definition that is inconsistent with the catalog.
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

    /// Storage of the log.
    pub(super) fn storage(&self) -> TableId {
        self.storage
    }

    /// Whether both rows give the same view.
    fn is_same(&self, old: &Row, new: &Row) -> EngineResult<bool> {
        for (at, column) in &self.reads {
            let (old, new) = (old.get(*at).unwrap_or(&Datum::Null), new.get(*at).unwrap_or(&Datum::Null));
            if old != new || !(old.is_null() || key_preserves_value(column.ty) || has_same_bytes(column, old, new)?) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The log row for the group of `row`; for all groups if `row` is `None`.
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

/// Equal values may have different encodings, as `1.0` and `1.00` do.
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
    /// Encoded log rows; `None` if all groups have changed.
    fragments: Option<HashSet<Vec<u8>>>,
    bytes: usize,
}

impl ChangedGroups {
    /// Notes a changed row of the target.
    ///
    /// # Errors
    /// A value that cannot be encoded.
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

    /// Notes an inserted row of the target, given in its stored form.
    ///
    /// # Errors
    /// A row that cannot be decoded, or a value that cannot be encoded.
    pub(super) fn note_stored(&mut self, target: &Target, key: &[u8], fragment: &[u8]) -> EngineResult<()> {
        let is_full = |log: &Arc<GroupLog>| self.0.get(&log.storage).is_some_and(|noted| noted.fragments.is_none());
        if target.group_logs.iter().all(is_full) {
            return Ok(());
        }
        let row = target.codec.decode_full(key, fragment)?;
        self.note(target, None, Some(&row))
    }

    /// The rows of all logs: storage, rowkey and fragment of each.
    ///
    /// # Errors
    /// A value that cannot be encoded; no more row ids.
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
    /// Writes the noted groups to the logs. The row ids are new, so no locks are needed.
    ///
    /// # Errors
    /// Errors of writing rows.
    pub(crate) async fn log_changed_groups(&mut self, work: &mut Work) -> EngineResult<()> {
        let changed = std::mem::take(&mut work.changed_groups);
        for (log, key, fragment) in changed.into_rows(self.engine.catalog().row_ids()).await? {
            work.txn.put(log, FAMILY, key, fragment.into()).await?;
        }
        Ok(())
    }
}
