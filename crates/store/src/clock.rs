//! The clock is passed in, so that tests control it.

use crate::Timestamp;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A source of the current time.
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// Milliseconds since 1970. May step back; the store stamps with the maximum of this and its last stamp.
    fn now(&self) -> Timestamp;

    /// Microseconds since 1970, as precise as the clock is.
    fn micros(&self) -> i64 {
        i64::try_from(self.now().0).unwrap_or(i64::MAX / 1000).saturating_mul(1000)
    }
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp(u64::try_from(since_1970().as_millis()).unwrap_or(u64::MAX))
    }

    fn micros(&self) -> i64 {
        i64::try_from(since_1970().as_micros()).unwrap_or(i64::MAX)
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place that asks the machine")]
fn since_1970() -> Duration {
    // A clock before 1970 reads as 0; the store keeps its stamps monotonic.
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// A clock for tests, set by hand.
#[derive(Debug, Default)]
pub struct ManualClock(AtomicU64);

impl ManualClock {
    /// Sets the time.
    pub fn set(&self, now: Timestamp) {
        self.0.store(now.0, Ordering::Relaxed);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::Relaxed))
    }
}
