//! Change logs: which groups of an incremental materialized view have changed since its last refresh.
//!
//! ```text
//!   table   t (k, host, cpu)          view   SELECT host, max(cpu) FROM t GROUP BY host
//!   log     (row id, everything, host)       a row for each group that a statement has changed
//! ```
//! A log is a separate table that belongs to the base table, as the entries of an index do: it is written in the
//! transaction that writes the rows ([`ChangeLog::rows`]). It has the columns that the grouping expressions name, under
//! their names. Writers only add rows, each under its own row id; the refresh deletes the rows that it has read.

use crate::draft::build::{make_key, plain_column, row_id_column, table_of};
use crate::{CatalogResult, ColumnId, Draft, Table, TableOid};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use types::DataType;

/// The column of a log that marks all groups as changed. No column of a table has this name.
pub const ALL_GROUPS_COLUMN: &str = "\u{1}everything";
/// Its id, which no column of a table gets: `ColumnId` 0 is the hidden row id, and the rest count up.
const EVERYTHING: ColumnId = ColumnId(u16::MAX);

/// The change log of one incremental materialized view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeLog {
    /// The view.
    pub view: TableOid,
    /// Storage of the log (`store::TableId`).
    pub storage: u32,
    /// Columns of the base table that the view reads: a change of other columns changes no group.
    pub reads: Vec<ColumnId>,
    /// Columns that the grouping expressions name.
    pub groups: Vec<ColumnId>,
}

/// The definition of an incremental materialized view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Incremental {
    /// The base table, which has the view's [`ChangeLog`].
    pub base: TableOid,
    /// Its query as written; the select items have the positions of the view's columns.
    pub query: String,
    /// Positions of the view's grouping columns.
    pub keys: Vec<usize>,
    /// See [`ChangeLog::reads`].
    pub reads: Vec<ColumnId>,
    /// See [`ChangeLog::groups`].
    pub groups: Vec<ColumnId>,
    /// The base table's storage at the last full refresh. If it differs (TRUNCATE, rewritten rows), all groups are
    /// computed again.
    pub of_storage: u32,
}

impl Incremental {
    /// The log that the base table gets for the view, without storage yet.
    pub fn log(&self, view: TableOid) -> ChangeLog {
        ChangeLog { view, storage: 0, reads: self.reads.clone(), groups: self.groups.clone() }
    }
}

impl ChangeLog {
    /// The storage of the log.
    pub fn storage_id(&self) -> store::TableId {
        store::TableId(self.storage)
    }

    /// The log as a table: a hidden row id, the flag for all groups, and the columns of the groups.
    pub fn rows(&self, table: &Table) -> Table {
        let mut columns = vec![row_id_column(), plain_column(EVERYTHING, ALL_GROUPS_COLUMN, DataType::Boolean)];
        let named = self.groups.iter().filter_map(|id| table.column(*id));
        columns.extend(named.map(|it| plain_column(it.id, &it.name, it.ty)));
        let key = make_key("", &columns, &[]).unwrap_or_default();
        let name = format!("changes for materialized view {}", self.view.0);
        table_of(table, TableOid(self.view.0), name, self.storage, columns, key)
    }
}

impl Draft {
    /// Adds the log of a view to its base table. The caller keeps out writers of the table.
    ///
    /// # Errors
    /// [`crate::CatalogError::NoSuchTable`]; no more storage ids.
    pub fn add_change_log(&mut self, base: TableOid, mut log: ChangeLog) -> CatalogResult<Arc<Table>> {
        let mut table = self.table(base)?.as_ref().clone();
        log.storage = self.new_storage(&log.rows(&table))?;
        table.change_logs.push(log);
        Ok(self.put_table(table))
    }

    /// Drops the log of a view from its base table: when it gets another one, the view needs a full refresh. The caller
    /// keeps out writers of the table.
    ///
    /// # Errors
    /// [`crate::CatalogError::NoSuchTable`].
    pub fn drop_change_log(&mut self, view: TableOid) -> CatalogResult<()> {
        let view = self.table(view)?;
        self.remove_change_log(&view);
        Ok(())
    }

    pub(crate) fn remove_change_log(&mut self, view: &Table) {
        let incremental = view.materialized.as_ref().and_then(|made_of| made_of.incremental.as_ref());
        let Some(base) = incremental.and_then(|it| self.next.table_by_oid(it.base)) else { return };
        if !base.change_logs.iter().any(|log| log.view == view.oid) {
            return;
        }
        let mut base = base.as_ref().clone();
        for log in base.change_logs.extract_if(.., |log| log.view == view.oid) {
            self.drop_storage(log.storage);
        }
        self.put_table(base);
    }

    /// New storage for the logs of a table that is truncated: its views need a full refresh.
    pub(crate) fn truncate_change_logs(&mut self, table: &mut Table) -> CatalogResult<()> {
        let mut logs = std::mem::take(&mut table.change_logs);
        for log in &mut logs {
            self.drop_storage(log.storage);
            log.storage = self.new_storage(&log.rows(table))?;
        }
        table.change_logs = logs;
        Ok(())
    }

    /// Adds a table that is not in the catalog, such as a log, so that queries can be planned over this draft. The
    /// draft is never made durable.
    ///
    /// # Errors
    /// No more oids.
    pub fn show_table(&mut self, mut table: Table) -> CatalogResult<Arc<Table>> {
        table.oid = TableOid(self.take_oid()?);
        Ok(self.put_table(table))
    }
}
