//! Threads: those that run queries, how long computations share them, and whether they make progress.

mod priority;
pub(crate) mod progress;
pub(crate) mod query_runtime;
pub(crate) mod turn;
