//! Tier 2: short statements as row programs of `rows`, on the caller's task. No plan, no Arrow, no other thread.
//!
//! ```text
//!   Query ──bind──> Bound ──rows::compile──> RowProgram ──run──> all rows, within a budget
//!     any refusal: a plan                        └── over the budget: its plan, on the same state
//! ```
//! The budget bounds what a program reads, computes and holds, since it runs where other connections live. Nothing is
//! sent before a program has ended, so handing over is not seen from outside.

mod compile;
mod explain;
mod functions;
mod relations;
mod run;

pub(crate) use compile::parameters;
pub(crate) use functions::SqlFunctions;

use crate::statement::Source;
use bind::tree::Bound;
use parking_lot::Mutex;
use query::Plan;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Which statements become row programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum RowPrograms {
    /// None.
    Off,
    /// Those that name few rows by their keys.
    #[default]
    On,
    /// Those that read whole tables, too.
    All,
}

/// A statement as row program.
#[derive(Debug)]
pub(crate) struct RowProgram {
    program: rows::Program,
    /// What is planned when the program hands over.
    source: Arc<Source>,
    /// Its plan, once it was wanted. Held to read or set it, never across an await.
    plan: Mutex<Option<Arc<Plan>>>,
    handed_over: HandOvers,
    /// What it was compiled from, for EXPLAIN.
    bound: Option<Box<Bound>>,
}

/// How often a program has handed over since it last ran to its end.
#[derive(Debug, Default)]
pub(crate) struct HandOvers(AtomicU32);

/// So many tries in vain show that a statement is none for a row program.
const TRIES: u32 = 4;
/// After those every so many executions one tries again: other parameters and fewer rows may come.
const TRIES_AGAIN: u32 = 64;

impl HandOvers {
    /// Is the program worth a try?
    pub(crate) fn may_run(&self) -> bool {
        let count = self.0.load(Ordering::Relaxed);
        count < TRIES || count.is_multiple_of(TRIES_AGAIN)
    }

    /// Notes an execution that its plan took over, tried or not.
    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// The program has run to its end.
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
