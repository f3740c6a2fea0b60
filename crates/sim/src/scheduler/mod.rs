//! A deterministic scheduler: one thread runs at a time, and a seed decides which is next.
//!
//! ```text
//!   task A ──lock──┐                ┌──sync──┐                      each task is an OS thread
//!                  ▼                ▲        ▼
//!   World     trace, choose a ready task, pass the turn                     time passes here only
//!                  ▼                ▲        ▼
//!   task B ........└──unlock──wait──┘        └── ...
//! ```
//! A task gives up the turn when it locks, unlocks, waits, sleeps or syncs, and nowhere else. A task that waits for a
//! lock, a signal, a waker or a time is not chosen before that has happened. If no task can be chosen, time advances to
//! the next wake-up; the run fails if there is none, or if a task waits for a minute of simulated time.
//!
//! Invariant: exactly one task has the turn, so shared data needs no further synchronization, and the seed determines
//! the run: nothing here depends on the real time, on random numbers of the system or on the order of threads.

mod condvar;
mod future;
mod lock;
mod place;
mod policy;
mod run;
mod state;
mod thread;
mod time;
mod trace;
mod world;

pub use condvar::Condvar;
pub use future::{JoinError, Work, block_on, spawn_blocking};
pub use lock::{Mutex, MutexGuard};
pub use run::{Ended, Failure, Settings, run};
pub use thread::{JoinHandle, sleep, spawn, yield_now};
pub use time::{Instant, now};

use place::Place;
use std::panic::Location;
use world::current;

/// Gives up the turn; `kind` describes what the task is about to do.
#[track_caller]
pub fn point(kind: &'static str) {
    let place = Place { kind, at: Location::caller() };
    if let Some(current) = current() {
        current.point(place);
    }
}

/// A number below `end`, determined by the seed.
pub fn random(end: u64) -> u64 {
    current().map_or(0, |current| current.with(|state| state.random.below(end)))
}

/// Whether this part of the code is disabled in this run, so that the run should fail.
pub fn is_left_out(part: &'static str) -> bool {
    current().is_some_and(|current| current.with(|state| state.left_out == Some(part)))
}

/// Adds a value observed by a task to the trace.
pub fn note(found: u64) {
    if let Some(current) = current() {
        current.with(|state| state.trace.add(found));
    }
}

/// The number of steps so far.
pub fn steps() -> u64 {
    current().map_or(0, |current| current.with(|state| state.trace.steps()))
}

#[cfg(test)]
mod tests;
