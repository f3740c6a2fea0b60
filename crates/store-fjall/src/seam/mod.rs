//! Time, threads and files as the store uses them: the one place where they can be others.
//!
//! What waits, blocks or asks for the time goes through here. What only counts (atomics), hands over values of its own
//! (tokio's channels, semaphores and locks in async code: they only need a waker) or never waits while it holds a
//! lock (`read/`) may be used as it is.

mod real;

pub(crate) use real::*;
