//! Materialized views: tables whose rows are those of a query at its last refresh.
//!
//! All that reads a table reads them, their indexes too. What is not as with tables hangs on [`Table::materialized`]: nobody
//! writes rows but a refresh, and they depend on what their query reads, as views do. A refresh fills storage that nobody sees
//! and is published in one change ([`crate::PreparedRewrite`]).

use crate::{CatalogError, CatalogResult, Draft, Incremental, Table, TableOid, ViewRead};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What makes a table a materialized view. Times are microseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Materialized {
    /// Source text of its query, whose columns have the names of the table's.
    pub query: String,
    /// Where names in the query are looked up.
    pub search_path: Vec<String>,
    /// What the query reads.
    pub reads: Vec<ViewRead>,
    /// Has it been filled, and not been emptied by WITH NO DATA since?
    pub populated: bool,
    /// When the query last ran for it, since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refreshed: Option<i64>,
    /// How often a job refreshes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<i64>,
    /// Number of that job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<u32>,
    /// WITH (incremental): a refresh makes only the groups anew that have changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incremental: Option<Incremental>,
}

impl Materialized {
    /// When its job is to refresh it next, since 1970; `None` without one.
    pub fn due(&self) -> Option<i64> {
        let every = self.every?;
        // One that was never filled is filled by its first refresh at once.
        Some(self.refreshed.map_or(0, |last| last.saturating_add(every)))
    }
}

impl Draft {
    /// Changes what a materialized view is made of or how it is refreshed.
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
            None => return Err(CatalogError::NoSuchTable { schema: None, name: format!("of oid {}", oid.0) }),
        }
        Ok(self.put_table(table))
    }
}
