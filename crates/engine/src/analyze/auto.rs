//! Automatic statistics, like PostgreSQL's autovacuum: analyzes a table again when enough of it has changed since the
//! last time.
//!
//! Rows that statements change are counted in memory. After a restart the counts are lost; then the store's estimate
//! decides, if a table has grown or shrunk as much. Tables are analyzed one at a time, on a query thread.

use super::table::{Wanted, analyze};
use crate::Engine;
use crate::dml::FAMILY;
use crate::error::{EngineResult, Fault, fail};
use crate::settings::{
    AUTOVACUUM, AUTOVACUUM_NAPTIME, AUTOVACUUM_SCALE_FACTOR, AUTOVACUUM_THRESHOLD, parse_bool, print_duration,
};
use crate::threads::query_runtime::Spawned;
use catalog::Table;
use parking_lot::Mutex;
use std::sync::{Arc, Weak};
use std::time::Duration;
use store::{CommitNo, KeyRange};
use tokio_util::sync::CancellationToken;

/// Options of automatic statistics. The settings have the names of PostgreSQL's autovacuum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AutoAnalyzeOptions {
    /// `autovacuum`: whether statistics are collected automatically.
    pub enabled: bool,
    /// `autovacuum_naptime`: time between two checks of all tables.
    pub pause: Duration,
    /// `autovacuum_analyze_threshold`: number of rows that must have changed …
    pub threshold: u64,
    /// `autovacuum_analyze_scale_factor`: … in addition to this fraction of the table's rows.
    pub scale_factor: f64,
}

impl Default for AutoAnalyzeOptions {
    fn default() -> Self {
        Self { enabled: true, pause: Duration::from_secs(60), threshold: 50, scale_factor: 0.1 }
    }
}

impl AutoAnalyzeOptions {
    /// No automatic statistics: only statements collect them.
    pub fn off() -> Self {
        Self { enabled: false, ..Self::default() }
    }

    /// The values as settings.
    pub(crate) fn settings(&self) -> Vec<(&'static str, String)> {
        let on = if self.enabled { "on" } else { "off" };
        vec![
            (AUTOVACUUM, on.to_string()),
            (AUTOVACUUM_NAPTIME, print_duration(self.pause)),
            (AUTOVACUUM_THRESHOLD, self.threshold.to_string()),
            (AUTOVACUUM_SCALE_FACTOR, self.scale_factor.to_string()),
        ]
    }

    /// The options of a table, which its storage parameters may override.
    fn of(&self, table: &Table) -> Self {
        let number = |name: &str| table.property(name, |value| value.parse::<f64>().ok());
        let off = table.property(catalog::AUTO_ANALYZE, parse_bool) == Some(false);
        Self {
            enabled: self.enabled && !off,
            threshold: number(catalog::ANALYZE_THRESHOLD).map_or(self.threshold, |rows| rows as u64),
            scale_factor: number(catalog::ANALYZE_SCALE_FACTOR).unwrap_or(self.scale_factor),
            ..*self
        }
    }

    /// Whether this number of changes is enough for a table of `rows` rows.
    fn are_met(&self, changes: f64, rows: f64) -> bool {
        self.enabled && changes > self.threshold as f64 + self.scale_factor * rows
    }
}

/// The task that analyzes changed tables.
#[derive(Debug, Default)]
pub(crate) struct AutoAnalyze {
    /// Locked to set or take it.
    task: Mutex<Option<Spawned<()>>>,
    closing: CancellationToken,
}

impl AutoAnalyze {
    /// Starts the task, if the engine's options enable it.
    ///
    /// # Errors
    /// If the engine is being closed.
    pub(crate) fn start(&self, engine: &Arc<Engine>, options: AutoAnalyzeOptions) -> EngineResult<()> {
        if !options.enabled {
            return Ok(());
        }
        let (weak, closing) = (Arc::downgrade(engine), self.closing.clone());
        let task = engine.runtime().spawn(None, async move {
            loop {
                tokio::select! {
                    () = closing.cancelled() => return,
                    () = tokio::time::sleep(options.pause) => {}
                }
                if round(&weak, options, &closing).await.is_none() {
                    return;
                }
            }
        })?;
        *self.task.lock() = Some(task);
        Ok(())
    }

    /// Stops the task, wherever it is.
    pub(crate) fn close(&self) {
        self.closing.cancel();
        self.task.lock().take();
    }
}

/// Checks all tables once. `None`: the engine is gone.
async fn round(engine: &Weak<Engine>, options: AutoAnalyzeOptions, closing: &CancellationToken) -> Option<()> {
    let catalog = engine.upgrade()?.catalog().current();
    let may_go_on = || if closing.is_cancelled() { fail(Fault::ShuttingDown) } else { Ok(()) };
    for table in catalog.tables() {
        let engine = engine.upgrade().filter(|_| !closing.is_cancelled())?;
        let due = is_due(&engine, table, options.of(table)).await;
        if !due.unwrap_or(false) {
            continue;
        }
        let wanted = Wanted { automatic: true, ..Wanted::all(engine.statistics_target()) };
        if let Err(error) = analyze(&engine, table, &wanted, CommitNo(0), &may_go_on).await {
            // A table that is dropped or truncated meanwhile is checked in the next round.
            tracing::debug!(%error, table = table.name, "statistics were not made");
        }
    }
    Some(())
}

async fn is_due(engine: &Engine, table: &Table, options: AutoAnalyzeOptions) -> EngineResult<bool> {
    let found = table.statistics().filter(|found| found.storage == table.storage);
    let (rows, then) = found.map_or((0.0, 0), |found| (found.rows, found.estimate.rows));
    if options.are_met(table.live.changes().since_analyze as f64, rows) {
        return Ok(true);
    }
    let now = engine.store().estimate(table.storage_id(), FAMILY, &[KeyRange::all()]).await?.rows;
    Ok(options.are_met(now.abs_diff(then) as f64, rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_due_when_more_has_changed_than_threshold_and_share() {
        let rules = AutoAnalyzeOptions::default();
        assert!(!rules.are_met(50.0, 0.0));
        assert!(rules.are_met(51.0, 0.0));
        assert!(!rules.are_met(150.0, 1_000.0));
        assert!(rules.are_met(151.0, 1_000.0));
        assert!(!AutoAnalyzeOptions { enabled: false, ..rules }.are_met(151.0, 0.0));
    }
}
