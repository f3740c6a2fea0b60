//! Threads that take turns: one runs at a time, and a seed says which is next.
//!
//! ```text
//!   task A ──lock──┐                ┌──sync──┐                      each task is a thread of the machine
//!                  ▼                ▲        ▼
//!   World     note, choose among those that are ready, hand the turn on     time passes here only
//!                  ▼                ▲        ▼
//!   task B ........└──unlock──wait──┘        └── ...
//! ```
//! A task gives the turn away where it locks, unlocks, waits, sleeps or syncs, and nowhere else. Whoever waits for a lock,
//! a signal, a waker or a moment is not chosen before that has come. If nobody can be chosen, time moves on to the next
//! moment that somebody sleeps for; if there is none, or a task waits for a minute of this time, the run has failed.
//!
//! Invariant: the turn has one owner, so whatever tasks share needs no other care, and what a run does follows from
//! its seed: nothing here asks the machine for the time, for a number or which thread came first.

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

/// Gives the turn away for a moment; `kind` says what the task is about to do.
#[track_caller]
pub fn point(kind: &'static str) {
    let place = Place { kind, at: Location::caller() };
    if let Some(current) = current() {
        current.point(place);
    }
}

/// A number below `end` that the seed chooses.
pub fn random(end: u64) -> u64 {
    current().map_or(0, |current| current.with(|state| state.random.below(end)))
}

/// Whether this part of the code is left out of this run, so that the run must fail.
pub fn is_left_out(part: &'static str) -> bool {
    current().is_some_and(|current| current.with(|state| state.left_out == Some(part)))
}

/// Adds what a task found to the trace.
pub fn note(found: u64) {
    if let Some(current) = current() {
        current.with(|state| state.trace.add(found));
    }
}

/// How many steps the run has had.
pub fn steps() -> u64 {
    current().map_or(0, |current| current.with(|state| state.trace.steps()))
}

#[cfg(test)]
mod tests;
