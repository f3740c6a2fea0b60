//! ANALYZE, Phoenix's UPDATE STATISTICS, and automatic statistics.
//!
//! ```text
//!   statement, or enough changes (auto.rs) ──> table.rs ──sample.rs──> rows of one snapshot, in bounded memory
//!                                                └──values.rs──> statistics ──> the catalog's storage, catalog::Live
//! ```
//! Nothing is locked: writers continue, and their changes count for the next time. A table that is truncated or
//! altered meanwhile is analyzed again. A cached plan uses the newest statistics at each execution.

mod auto;
mod leading;
mod sample;
mod table;
mod values;

pub(crate) use auto::AutoAnalyze;
pub use auto::AutoAnalyzeOptions;

use crate::error::EngineResult;
use crate::{Notice, Session};
use catalog::{ColumnId, Table};
use sql::{ObjectName, StatisticsOf, UpdateStatistics};
use std::sync::Arc;
use table::Wanted;

/// Maximum number of attempts for a table whose storage is replaced meanwhile.
const TRIES: usize = 8;

impl Session {
    /// Analyzes these tables and columns; all tables if the list is empty.
    pub(crate) async fn analyze(
        &mut self,
        tables: &[(ObjectName, Vec<String>)],
        verbose: bool,
    ) -> EngineResult<String> {
        let catalog = self.engine.catalog().current();
        let mut all = Vec::new();
        for (name, columns) in tables {
            let table = self.resolve_stored(&catalog, name)?;
            let columns = columns.iter().map(|column| Ok(table.must_get_column(column)?.id));
            let columns = columns.collect::<EngineResult<Vec<ColumnId>>>()?;
            all.push((table, (!columns.is_empty()).then_some(columns)));
        }
        if tables.is_empty() {
            all.extend(catalog.tables().map(|table| (Arc::clone(table), None)));
        }
        for (table, columns) in all {
            let indexes = columns.is_none();
            let wanted = Wanted { columns, indexes, ..self.wanted() };
            self.analyze_table(&table, &wanted, verbose).await?;
        }
        Ok("ANALYZE".to_string())
    }

    /// UPDATE STATISTICS.
    pub(crate) async fn update_statistics(&mut self, update: &UpdateStatistics) -> EngineResult<String> {
        let table = self.resolve_stored(&self.engine.catalog().current(), &update.table)?;
        let mut wanted = self.wanted();
        wanted.rows = update.of != StatisticsOf::Indexes;
        wanted.indexes = update.of != StatisticsOf::Columns;
        for (name, value) in &update.properties {
            match name.as_str() {
                "phoenix.stats.guidepost.width" => wanted.width = Some(*value),
                other => {
                    self.without_effect(&format!("property \"{other}\""), "only the width of guideposts can be set")
                }
            }
        }
        self.analyze_table(&table, &wanted, false).await?;
        // Clients take a tag that begins with UPDATE for one with a row count.
        Ok("ANALYZE".to_string())
    }

    fn wanted(&self) -> Wanted {
        Wanted::all(self.settings.effective().statistics_target)
    }

    async fn analyze_table(&mut self, table: &Arc<Table>, wanted: &Wanted, verbose: bool) -> EngineResult<()> {
        let schema = self.engine.catalog().current().schema_name(table).to_string();
        if verbose {
            self.tell(format!("analyzing \"{schema}.{}\"", table.name));
        }
        let (engine, guard) = (Arc::clone(&self.engine), self.running());
        let (mut table, mut tries) = (Arc::clone(table), 0);
        let may_go_on = || guard.check();
        let found = loop {
            tries += 1;
            let work = table::analyze(&engine, &table, wanted, self.last_commit, &may_go_on);
            match guard.stoppable(work).await {
                Err(error) if error.is_undefined_table() && tries < TRIES => {
                    engine.catalog().wait_for_pending_change().await;
                    match engine.catalog().current().table_by_oid(table.oid) {
                        Some(now) => table = Arc::clone(now),
                        // The table was dropped meanwhile.
                        None => break None,
                    }
                }
                done => break done?,
            }
        };
        if let Some(found) = found.filter(|_| verbose) {
            self.tell(format!(
                "\"{}\": {} rows in sample, {:.0} estimated total rows",
                table.name, found.sampled, found.rows
            ));
        }
        Ok(())
    }

    fn tell(&mut self, message: String) {
        self.notices.push(Notice { severity: "INFO", ..Notice::info("00000", message) });
    }
}
