//! Simulated time.

use super::world::current;
use std::time::Duration;

/// A point in simulated time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(Duration);

/// Time since the start of the run.
pub fn now() -> Duration {
    current().map_or(Duration::ZERO, |current| Duration::from_nanos(current.with(|state| state.now)))
}

impl Instant {
    /// The current time.
    pub fn now() -> Self {
        Self(now())
    }

    /// Time since this instant.
    pub fn elapsed(&self) -> Duration {
        now().saturating_sub(self.0)
    }

    /// Time from `other` to `self`.
    pub fn duration_since(&self, other: Self) -> Duration {
        self.0.saturating_sub(other.0)
    }
}
