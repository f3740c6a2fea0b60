//! Durations of the planning phases: per plan for EXPLAIN, and in total for metrics.

use super::Planner;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The duration of the planning phases of one plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    /// From the bound tree to DataFusion's logical plan with subqueries as joins.
    pub lower: Duration,
    /// DataFusion's rules and ours.
    pub optimize: Duration,
}

/// Nanoseconds since the planner was created.
#[derive(Debug, Default)]
pub(super) struct Totals {
    lower: AtomicU64,
    optimize: AtomicU64,
    physical: AtomicU64,
    run: AtomicU64,
}

impl Totals {
    pub(super) fn add(&self, phases: Phases) {
        count(&self.lower, phases.lower);
        count(&self.optimize, phases.optimize);
    }

    /// Counts the physical planning that started at `began`; returns its duration.
    pub(super) fn physical_since(&self, began: Instant) -> Duration {
        let took = began.elapsed();
        count(&self.physical, took);
        took
    }

    /// Microseconds, under the names of metrics.
    pub(super) fn figures(&self) -> [(&'static str, u64); 4] {
        let micros = |total: &AtomicU64| total.load(Ordering::Relaxed) / 1_000;
        [
            ("phase_lower_microseconds_total", micros(&self.lower)),
            ("phase_optimize_microseconds_total", micros(&self.optimize)),
            ("phase_physical_microseconds_total", micros(&self.physical)),
            ("phase_run_microseconds_total", micros(&self.run)),
        ]
    }
}

/// An executing plan: counts the time until it is dropped.
pub(super) struct Run {
    planner: Arc<Planner>,
    began: Instant,
}

impl Run {
    pub(super) fn begin(planner: &Arc<Planner>) -> Self {
        Self { planner: Arc::clone(planner), began: Instant::now() }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        count(&self.planner.phases.run, self.began.elapsed());
    }
}

fn count(total: &AtomicU64, took: Duration) {
    total.fetch_add(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
}
