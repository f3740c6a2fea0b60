//! Metrics of the engine since it was opened.

use crate::row_writer::Tally;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Monotonic counters.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) statements: Counter,
    pub(crate) failed: Counter,
    /// Statements that ran as key programs. The next counters are for other tiers.
    pub(crate) point: Counter,
    pub(crate) rows: Counter,
    /// Row programs that exceeded their budget, so that their plans ran.
    pub(crate) handed_over: Counter,
    pub(crate) cached: Counter,
    /// Statements that ran as the prepared statement of their shape.
    pub(crate) parameterized: Counter,
    pub(crate) planned: Counter,
    pub(crate) utility: Counter,
    /// Nanoseconds spent in parsing and binding.
    pub(crate) parse: Counter,
    pub(crate) bind: Counter,
    /// Statements that ran again because other transactions had changed their rows.
    pub(crate) retries: Counter,
    pub(crate) rows_written: Counter,
    pub(crate) rows_copied: Counter,
    /// Written rows by kind of change.
    rows_inserted: Counter,
    rows_upserted: Counter,
    rows_updated: Counter,
    rows_deleted: Counter,
}

/// A counter.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    /// Adds the nanoseconds since `began`.
    pub(crate) fn add_since(&self, began: Instant) -> Duration {
        let took = began.elapsed();
        self.add(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
        took
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Counters {
    /// Adds the row writer's counts.
    pub(crate) fn count(&self, tally: Tally) {
        self.rows_inserted.add(tally.inserted);
        self.rows_upserted.add(tally.upserted);
        self.rows_updated.add(tally.updated);
        self.rows_deleted.add(tally.deleted);
    }

    pub(crate) fn values(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("statements_total", self.statements.get()),
            ("statements_failed_total", self.failed.get()),
            ("statements_point_total", self.point.get()),
            ("statements_row_program_total", self.rows.get()),
            ("statements_handed_over_total", self.handed_over.get()),
            ("statements_cached_plan_total", self.cached.get()),
            ("statements_parameterized_total", self.parameterized.get()),
            ("statements_planned_total", self.planned.get()),
            ("statements_utility_total", self.utility.get()),
            ("phase_parse_microseconds_total", self.parse.get() / 1_000),
            ("phase_bind_microseconds_total", self.bind.get() / 1_000),
            ("statement_retries_total", self.retries.get()),
            ("statement_rows_written_total", self.rows_written.get()),
            ("statement_rows_copied_total", self.rows_copied.get()),
            ("statement_rows_inserted_total", self.rows_inserted.get()),
            ("statement_rows_upserted_total", self.rows_upserted.get()),
            ("statement_rows_updated_total", self.rows_updated.get()),
            ("statement_rows_deleted_total", self.rows_deleted.get()),
        ]
    }
}
