//! Fault injection: the data folder after a power loss, failing system calls, and threads in any order.
//!
//! ```text
//!   child process ──(shim.c, preloaded)──> log of every write, rename, unlink and sync, in order
//!   log, cut anywhere ──Disk──> the folder after a power loss: with synced changes only,
//!                               or also with some unsynced ones
//!   folder ──> the store opens it; the test compares it with the child's acknowledgements
//! ```
//!
//! Invariant: the shim records everything. After the whole log the simulated folder equals the real one byte for byte;
//! the tests check that first.

pub mod power_loss;
pub mod random;
pub mod scheduler;
