//! Tier 2: short statements as row programs of `rows`, on the caller's task. No plan, no Arrow, no other thread.
//!
//! ```text
//!   Query ──bind──> Bound ──rows::compile──> RowProgram ──run──> all rows, within a budget
//!     not supported: a plan                      └── over the budget: its plan, on the same snapshot
//! ```
//! The budget limits what a program reads, computes and holds, because it runs on connection threads. Nothing is sent
//! before a program has ended, so clients do not notice a hand-over.

mod compile;
mod explain;
mod functions;
mod relations;
mod run;

pub(crate) use compile::parameters;
pub(crate) use functions::SqlFunctions;
pub(crate) use relations::Names;

use crate::statement::Source;
use bind::tree::Bound;
use parking_lot::Mutex;
use query::Plan;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Which statements become row programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum RowPrograms {
    /// No statement.
    Off,
    /// Statements that read few rows by key.
    #[default]
    On,
    /// Statements that scan whole tables, too.
    All,
}

/// A statement as a row program.
#[derive(Debug)]
pub(crate) struct RowProgram {
    program: rows::Program,
    /// The statement to plan when the program hands over.
    source: Arc<Source>,
    /// The plan, once it was needed. Locked to read or set it, never across an await.
    plan: Mutex<Option<Arc<Plan>>>,
    handed_over: HandOvers,
    /// The bound query, for EXPLAIN.
    bound: Option<Box<Bound>>,
}

/// How often a program has handed over since it last ran to completion.
#[derive(Debug, Default)]
pub(crate) struct HandOvers(AtomicU32);

/// After this many hand-overs in a row the program is no longer tried at each execution.
const TRIES: u32 = 4;
/// From then on it is tried once in this many executions, because parameters and tables change.
const TRIES_AGAIN: u32 = 64;

impl HandOvers {
    /// Whether the program should be tried.
    pub(crate) fn may_run(&self) -> bool {
        let count = self.0.load(Ordering::Relaxed);
        count < TRIES || count.is_multiple_of(TRIES_AGAIN)
    }

    /// Notes an execution by the plan, after an attempt or without one.
    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that the program ran to completion.
    pub(crate) fn forget(&self) {
        if self.0.load(Ordering::Relaxed) > 0 {
            self.0.store(0, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hands_over_again_and_again_is_seldom_tried() {
        let hand_overs = HandOvers::default();
        let mut tried = 0;
        for _ in 0..TRIES_AGAIN * 4 {
            tried += u32::from(hand_overs.may_run());
            hand_overs.add();
        }
        assert_eq!(tried, TRIES + 3);
        hand_overs.forget();
        assert!(hand_overs.may_run());
    }
}
