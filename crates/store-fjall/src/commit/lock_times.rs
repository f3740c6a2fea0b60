//! Measures how long the commit lock is held: the longest wait of other commits.

use super::pipeline::Last;
use crate::seam::{Instant, MutexGuard};
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};

/// Histogram of the times that the lock was held.
#[derive(Debug, Default)]
pub(crate) struct LockTimes {
    longest_us: AtomicU64,
    all_us: AtomicU64,
    over_1ms: AtomicU64,
    over_10ms: AtomicU64,
    over_100ms: AtomicU64,
}

/// Guard of the commit lock.
pub(crate) struct Held<'a> {
    last: MutexGuard<'a, Last>,
    since: Instant,
    times: &'a LockTimes,
}

impl LockTimes {
    /// Starts the measurement; the lock was just taken.
    pub(super) fn begin<'a>(&'a self, last: MutexGuard<'a, Last>) -> Held<'a> {
        Held { last, since: Instant::now(), times: self }
    }

    /// The values for metrics.
    pub(crate) fn figures(&self) -> [(&'static str, u64); 5] {
        let read = |figure: &AtomicU64| figure.load(Ordering::Relaxed);
        [
            ("commit_lock_longest_us", read(&self.longest_us)),
            ("commit_lock_held_us_total", read(&self.all_us)),
            ("commit_lock_over_1ms_total", read(&self.over_1ms)),
            ("commit_lock_over_10ms_total", read(&self.over_10ms)),
            ("commit_lock_over_100ms_total", read(&self.over_100ms)),
        ]
    }

    fn note(&self, held_us: u64) {
        // Only the lock holder writes, so load and store need no atomic maximum.
        if held_us > self.longest_us.load(Ordering::Relaxed) {
            self.longest_us.store(held_us, Ordering::Relaxed);
        }
        self.all_us.fetch_add(held_us, Ordering::Relaxed);
        for (limit_us, count) in [(1_000, &self.over_1ms), (10_000, &self.over_10ms), (100_000, &self.over_100ms)] {
            if held_us > limit_us {
                count.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.times.note(self.since.elapsed().as_micros().try_into().unwrap_or(u64::MAX));
    }
}

impl Deref for Held<'_> {
    type Target = Last;

    fn deref(&self) -> &Last {
        &self.last
    }
}

impl DerefMut for Held<'_> {
    fn deref_mut(&mut self) -> &mut Last {
        &mut self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_time_and_those_beyond_each_bound_are_kept() {
        let times = LockTimes::default();
        [5, 2_000, 150_000, 20_000].into_iter().for_each(|held_us| times.note(held_us));
        let figures = times.figures().map(|(_, figure)| figure);
        assert_eq!(figures, [150_000, 172_005, 3, 2, 1]);
    }
}
