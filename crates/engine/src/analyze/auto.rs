//! Statistics that are made by themselves, as PostgreSQL's autovacuum does: a table that has changed enough since it was
//! looked at last is looked at again.
//!
//! Rows that statements change are counted in memory. After a start they are not known: then the store's own figure tells,
//! where a table has grown or shrunk as much. One table at a time, on a query thread, behind the same pauses as queries.

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

/// When statistics are made by themselves. The names of the settings are those of PostgreSQL's autovacuum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AutoAnalyzeOptions {
    /// `autovacuum`: are they made at all?
    pub enabled: bool,
    /// `autovacuum_naptime`: time between two looks at what tables have changed.
    pub pause: Duration,
    /// `autovacuum_analyze_threshold`: rows that must have changed …
    pub threshold: u64,
    /// `autovacuum_analyze_scale_factor`: … and this share of the table's beside them.
    pub scale_factor: f64,
}

impl Default for AutoAnalyzeOptions {
    fn default() -> Self {
        Self { enabled: true, pause: Duration::from_secs(60), threshold: 50, scale_factor: 0.1 }
    }
}

impl AutoAnalyzeOptions {
    /// Statistics are made when a statement asks for them, and never else.
    pub fn off() -> Self {
        Self { enabled: false, ..Self::default() }
    }

    /// As SHOW shows them.
    pub(crate) fn settings(&self) -> Vec<(&'static str, String)> {
        let on = if self.enabled { "on" } else { "off" };
        vec![
            (AUTOVACUUM, on.to_string()),
            (AUTOVACUUM_NAPTIME, print_duration(self.pause)),
            (AUTOVACUUM_THRESHOLD, self.threshold.to_string()),
            (AUTOVACUUM_SCALE_FACTOR, self.scale_factor.to_string()),
        ]
    }

    /// Those of a table, which its storage parameters may change.
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

    /// Are so many changes of a table of `rows` enough?
    fn are_met(&self, changes: f64, rows: f64) -> bool {
        self.enabled && changes > self.threshold as f64 + self.scale_factor * rows
    }
}

/// The task that looks for such tables.
#[derive(Debug, Default)]
pub(crate) struct AutoAnalyze {
    /// Held to set or take it.
    task: Mutex<Option<Spawned<()>>>,
    closing: CancellationToken,
}

impl AutoAnalyze {
    /// Begins, if the engine's options say so.
    ///
    /// # Errors
    /// When the engine is being closed.
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

    /// Ends, wherever it is.
    pub(crate) fn close(&self) {
        self.closing.cancel();
        self.task.lock().take();
    }
}

/// Looks at all tables once. `None`: the engine is gone.
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
            // A table that is dropped or truncated meanwhile is looked at in the next round.
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
