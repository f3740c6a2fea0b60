//! Materialized views: tables with the result of a query at its last refresh.
//!
//! A materialized view and its indexes are read like a table. [`Table::materialized`] has the differences: only a
//! refresh writes its rows, and it depends on the relations that its query reads, as a view does. A refresh fills
//! storage that is not visible yet, and is published in one change ([`crate::PreparedRewrite`]).

use crate::{CatalogError, CatalogResult, Draft, Incremental, Table, TableOid, ViewRead};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The definition and refresh state of a materialized view. Times are in microseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Materialized {
    /// Source text of its query; the output columns are renamed to the table's column names.
    pub query: String,
    /// The search path for names in the query.
    pub search_path: Vec<String>,
    /// The relations and columns that the query reads.
    pub reads: Vec<ViewRead>,
    /// Whether it has been filled, and not been emptied by WITH NO DATA since.
    pub populated: bool,
    /// When the query of the last refresh ran, since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refreshed: Option<i64>,
    /// The interval at which a job refreshes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<i64>,
    /// Number of the refresh job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<u32>,
    /// WITH (incremental): a refresh only computes the groups that have changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incremental: Option<Incremental>,
}

impl Materialized {
    /// When its job next refreshes it, since 1970; `None` without a job.
    pub fn due(&self) -> Option<i64> {
        let every = self.every?;
        // A view that was never filled is due at once.
        Some(self.refreshed.map_or(0, |last| last.saturating_add(every)))
    }
}

impl Draft {
    /// Changes the definition or the refresh options of a materialized view.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`]: dropped since the caller looked it up.
    pub fn change_materialized(
        &mut self,
        oid: TableOid,
        change: impl FnOnce(&mut Materialized),
    ) -> CatalogResult<Arc<Table>> {
        let mut table = self.table(oid)?.as_ref().clone();
        match &mut table.materialized {
            Some(view) => change(view),
            None => return Err(CatalogError::dropped(oid.0)),
        }
        Ok(self.put_table(table))
    }
}
