//! Change logs: which groups of an incremental materialized view have changed since its last refresh.
//!
//! ```text
//!   table   t (k, host, cpu)          view   SELECT host, max(cpu) FROM t GROUP BY host
//!   log     (row id, everything, host)       a row for each group that a statement has changed
//! ```
//! A log is a table of its own that hangs on the table that is read, as entries of an index do: it is written in the transaction
//! of the rows ([`ChangeLog::rows`]). It has the columns that the grouping expressions name, under their names. Rows of a log are
//! only ever added by writers, each under a row id of its own, and taken away by the refresh that has read them.

use crate::draft::build::{make_key, plain_column, row_id_column, table_of};
use crate::{CatalogResult, ColumnId, Draft, Table, TableOid};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use types::DataType;

/// The column of a log that says: all groups are to be made anew. No column of a table has this name.
pub const EVERYTHING_COLUMN: &str = "\u{1}everything";
/// Its id, which no column of a table gets: `ColumnId` 0 is the hidden row id, and the rest count up.
const EVERYTHING: ColumnId = ColumnId(u16::MAX);

/// The change log of one incremental materialized view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeLog {
    /// The view.
    pub view: TableOid,
    /// Its rows in the store (`store::TableId`).
    pub storage: u32,
    /// Columns of the table that the view reads: a change of others is none of its groups.
    pub reads: Vec<ColumnId>,
    /// Those that its grouping expressions name.
    pub groups: Vec<ColumnId>,
}

/// What makes a materialized view incremental.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Incremental {
    /// The table that it reads, which has its [`ChangeLog`].
    pub base: TableOid,
    /// Its query as it was written, whose items have the places of the view's columns.
    pub query: String,
    /// Places of the view's columns that are grouping expressions.
    pub keys: Vec<usize>,
    /// See [`ChangeLog::reads`].
    pub reads: Vec<ColumnId>,
    /// See [`ChangeLog::groups`].
    pub groups: Vec<ColumnId>,
    /// The storage of the table's rows when all groups were made last. Under another one (TRUNCATE, rows written anew) all are
    /// made again.
    pub of_storage: u32,
}

impl Incremental {
    /// The log that the table gets for the view, still without storage.
    pub fn log(&self, view: TableOid) -> ChangeLog {
        ChangeLog { view, storage: 0, reads: self.reads.clone(), groups: self.groups.clone() }
    }
}

impl ChangeLog {
    /// The log in the store.
    pub fn storage_id(&self) -> store::TableId {
        store::TableId(self.storage)
    }

    /// The log of a table as a table: a hidden row id, whether everything has changed, and the columns of the groups.
    pub fn rows(&self, table: &Table) -> Table {
        let mut columns = vec![row_id_column(), plain_column(EVERYTHING, EVERYTHING_COLUMN, DataType::Boolean)];
        let named = self.groups.iter().filter_map(|id| table.column(*id));
        columns.extend(named.map(|it| plain_column(it.id, &it.name, it.ty)));
        let key = make_key("", &columns, &[]).unwrap_or_default();
        let name = format!("changes for materialized view {}", self.view.0);
        table_of(table, TableOid(self.view.0), name, self.storage, columns, key)
    }
}

impl Draft {
    /// Gives a table the log of a view. The caller keeps writers of the table out.
    ///
    /// # Errors
    /// [`crate::CatalogError::NoSuchTable`]; no more storage ids.
    pub fn add_change_log(&mut self, base: TableOid, mut log: ChangeLog) -> CatalogResult<Arc<Table>> {
        let mut table = self.table(base)?.as_ref().clone();
        log.storage = self.new_storage(&log.rows(&table))?;
        table.change_logs.push(log);
        Ok(self.put_table(table))
    }

    /// Takes the log of a view from the table that it reads: the view is to be made anew in full, when it gets another one. The
    /// caller keeps writers of the table out.
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

    /// New storage for the logs of a table that is emptied: its views are made anew in full.
    pub(crate) fn truncate_change_logs(&mut self, table: &mut Table) -> CatalogResult<()> {
        let mut logs = std::mem::take(&mut table.change_logs);
        for log in &mut logs {
            self.drop_storage(log.storage);
            log.storage = self.new_storage(&log.rows(table))?;
        }
        table.change_logs = logs;
        Ok(())
    }

    /// Shows a table that is not of this catalog, such as a log, to queries planned over this draft, which is only looked at.
    ///
    /// # Errors
    /// No more oids.
    pub fn show_table(&mut self, mut table: Table) -> CatalogResult<Arc<Table>> {
        table.oid = TableOid(self.take_oid()?);
        Ok(self.put_table(table))
    }
}
