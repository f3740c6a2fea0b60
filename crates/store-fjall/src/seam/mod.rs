//! Time, threads and files as the store uses them: the one place where they can be others.
//!
//! ```text
//!   store-fjall      real.rs        parking_lot, std, tokio; nothing is added
//!   store-fjall-sim  simulated.rs   the same sources as another crate, built with `--cfg simulated`: one task runs
//!                                   at a time, and a seed says which (crates/sim, docs/architecture/scheduler.md)
//! ```
//! What waits, blocks or asks for the time goes through here. What only counts (atomics), hands over values of its own
//! (tokio's channels, semaphores and locks in async code: they only need a waker) or never waits while it holds a
//! lock (`read/`) may be used as it is.

#[cfg(not(simulated))]
mod real;
#[cfg(simulated)]
mod simulated;

#[cfg(not(simulated))]
pub(crate) use real::*;
#[cfg(simulated)]
pub(crate) use simulated::*;
