//! Time, threads and files of the store, replaceable by a simulation.
//!
//! ```text
//!   store-fjall      real.rs        parking_lot, std, tokio; no overhead
//!   store-fjall-sim  simulated.rs   the same sources in another crate, built with `--cfg simulated`: one task runs
//!                                   at a time, chosen by a seed (crates/sim, docs/architecture/scheduler.md)
//! ```
//! Everything that waits, blocks or reads the clock goes through this module. Exempt are atomics, tokio's channels,
//! semaphores and locks in async code (they only need a waker), and code that never waits while it holds a lock
//! (`read/`).

#[cfg(not(simulated))]
mod real;
#[cfg(simulated)]
mod simulated;

#[cfg(not(simulated))]
pub(crate) use real::*;
#[cfg(simulated)]
pub(crate) use simulated::*;
