//! `statement_timeout`: the time that a statement may still take.
//!
//! A portal runs in several Executes, each with the whole time. Between them the time stands still: the query may compute
//! ahead, and waits for the next Execute as long as its client wants.

use crate::Session;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// The value of [`Timer::deadline`] without a limit.
const NEVER: u64 = u64::MAX;

/// Deadlines are numbers relative to this time, so that a statement without a limit does not read the clock.
static BASE: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The time limit of a statement; shared with all computations for it.
#[derive(Debug)]
pub(crate) struct Timer {
    /// Microseconds after [`BASE`]. Relaxed: a computation may see a change a little later.
    deadline: AtomicU64,
    /// Wakes those that wait for the deadline when it changes.
    changed: Notify,
}

impl Timer {
    /// A timer that runs out after this time.
    pub(crate) fn new(limit: Option<Duration>) -> Self {
        Self { deadline: AtomicU64::new(deadline_after(limit)), changed: Notify::new() }
    }

    /// Starts again with this time; `None` stops it.
    fn restart(&self, limit: Option<Duration>) {
        self.deadline.store(deadline_after(limit), Ordering::Relaxed);
        self.changed.notify_waiters();
    }

    fn deadline(&self) -> Option<Instant> {
        match self.deadline.load(Ordering::Relaxed) {
            NEVER => None,
            after => BASE.checked_add(Duration::from_micros(after)),
        }
    }

    /// Whether the time is over.
    pub(crate) fn is_over(&self) -> bool {
        self.deadline().is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Waits until the time is over.
    pub(crate) async fn over(&self) {
        loop {
            // Created before the deadline is read, so that no change is missed.
            let changed = self.changed.notified();
            match self.deadline() {
                None => changed.await,
                Some(_) if self.is_over() => return,
                Some(deadline) => tokio::select! {
                    () = changed => {}
                    () = tokio::time::sleep_until(deadline.into()) => {}
                },
            }
        }
    }
}

/// The deadline after this time, as [`Timer::deadline`] has it.
fn deadline_after(limit: Option<Duration>) -> u64 {
    let Some(limit) = limit else { return NEVER };
    // Just below NEVER: half a million years.
    u64::try_from(BASE.elapsed().saturating_add(limit).as_micros()).unwrap_or(NEVER).min(NEVER - 1)
}

/// The time limit of a statement whose rows a front end reads in several steps.
#[derive(Clone, Debug)]
pub struct StatementTimer(pub(crate) Arc<Timer>);

impl StatementTimer {
    /// Stops the time until the next step.
    pub fn pause(&self) {
        self.0.restart(None);
    }

    /// Starts the next step with its whole time.
    pub(crate) fn resume(&self, limit: Option<Duration>) {
        self.0.restart(limit);
    }
}

impl Session {
    /// The time limit of the statement that began last.
    pub fn statement_timer(&self) -> Option<StatementTimer> {
        self.timer.clone()
    }

    /// Begins the next step of a statement, with the session's `statement_timeout` of now.
    pub fn resume(&self, timer: &StatementTimer) {
        timer.resume(self.settings.effective().statement_timeout);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_paused_timer_is_never_over_and_a_resumed_one_has_its_whole_time() {
        let timer = Timer::new(Some(Duration::from_millis(20)));
        timer.restart(None);
        assert!(tokio::time::timeout(Duration::from_millis(60), timer.over()).await.is_err());
        assert!(!timer.is_over());
        let restarted = async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            timer.restart(Some(Duration::from_millis(20)));
        };
        let both = async { tokio::join!(timer.over(), restarted) };
        assert!(tokio::time::timeout(Duration::from_secs(10), both).await.is_ok());
        assert!(timer.is_over());
    }
}
