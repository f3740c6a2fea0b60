//! Time that passes as the scheduler says.

use super::world::current;
use std::time::Duration;

/// A moment of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(Duration);

/// Since the run began.
pub fn now() -> Duration {
    current().map_or(Duration::ZERO, |current| Duration::from_nanos(current.with(|state| state.now)))
}

impl Instant {
    /// This moment.
    pub fn now() -> Self {
        Self(now())
    }

    /// Time since then.
    pub fn elapsed(&self) -> Duration {
        now().saturating_sub(self.0)
    }

    /// Time from the other to this one.
    pub fn duration_since(&self, other: Self) -> Duration {
        self.0.saturating_sub(other.0)
    }
}
