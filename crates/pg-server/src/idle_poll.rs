//! Looking for the next message a little longer before a thread sleeps.
//!
//! To wake a thread on an idle core takes longer than to answer a short statement, and a lone client that asks one thing
//! after the other would pay it each time. So while the messages of one connection follow each other quickly,
//! its thread asks the poll again and again instead of sleeping in it, lets whoever else wants the core have it in between,
//! and stops as soon as a message has not come in time. Clients that are farther away than [`LIMIT`], that think, or that
//! share the thread cost nothing: with several the next message is mostly there already. Seastar's reactor polls before
//! it sleeps for the same reason.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::task::Id;

/// How long to look for the next message.
const LIMIT: Duration = Duration::from_micros(100);
/// So many messages in a row have to come in time before a thread looks for the next.
const IN_TIME: u32 = 16;

/// How quickly messages follow each other on a thread of connections. Not kept by thread: it may be exchanged for another.
#[derive(Debug, Default)]
pub(crate) struct Tide {
    /// Held for one look.
    run: Mutex<Run>,
    /// Wakes the poller.
    poller: Notify,
}

/// Messages that came quickly.
#[derive(Debug, Default)]
struct Run {
    /// When the last one came, and to which connection's task.
    last: Option<(Instant, Option<Id>)>,
    /// How many of that connection have come in time since one did not.
    in_time: u32,
}

impl Tide {
    /// Notes that the present task, a connection's, was sent something.
    pub(crate) fn note(&self) {
        self.arrived(Instant::now(), tokio::task::try_id());
    }

    fn arrived(&self, now: Instant, task: Option<Id>) {
        let count = {
            let mut run = self.run.lock();
            let before = run.last.replace((now, task));
            let in_time = before.is_some_and(|(last, other)| other == task && now.duration_since(last) < LIMIT);
            run.in_time = if in_time { run.in_time.saturating_add(1) } else { 0 };
            run.in_time
        };
        if count > 0 && count.is_multiple_of(IN_TIME) {
            self.poller.notify_one();
        }
    }

    /// Is the next message likely to come soon?
    fn is_high(&self, now: Instant) -> bool {
        let mut run = self.run.lock();
        let recent = run.last.is_some_and(|(last, _)| now.duration_since(last) < LIMIT);
        if !recent {
            run.in_time = 0;
        }
        run.in_time >= IN_TIME
    }
}

/// How many threads may look for messages at a time: the clients need cores, too.
#[derive(Debug)]
pub(crate) struct Pollers {
    free: AtomicUsize,
}

impl Pollers {
    /// For a machine with so many cores.
    pub(crate) fn new(cores: usize) -> Self {
        Self { free: AtomicUsize::new(cores / 2) }
    }

    fn take(&self) -> Option<Seat<'_>> {
        let one_less = |free: usize| free.checked_sub(1);
        self.free.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).ok().map(|_| Seat(self))
    }
}

/// One of those threads.
struct Seat<'a>(&'a Pollers);

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.0.free.fetch_add(1, Ordering::Relaxed);
    }
}

/// Keeps the present runtime awake while messages come quickly; one task of each.
pub(crate) async fn run(pollers: &Pollers, tide: &Tide) {
    loop {
        tide.poller.notified().await;
        let Some(_seat) = pollers.take() else { continue };
        while tide.is_high(Instant::now()) {
            std::thread::yield_now();
            // With nothing else to run the runtime looks at its sockets without waiting.
            tokio::task::yield_now().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds messages at those microseconds; is the tide high right after the last?
    fn high_after(times: impl IntoIterator<Item = u64>) -> bool {
        let (tide, start) = (Tide::default(), Instant::now());
        let at = |micros| start + Duration::from_micros(micros);
        let last = times.into_iter().inspect(|time| tide.arrived(at(*time), None)).last();
        tide.is_high(at(last.unwrap_or_default() + 1))
    }

    #[test]
    fn a_thread_looks_for_messages_after_a_run_of_quick_ones() {
        assert!(high_after((0..=16).map(|n| n * 90)));
        assert!(!high_after((0..16).map(|n| n * 90)), "one too few");
        assert!(!high_after((0..=16).map(|n| n * 110)), "too far apart");
        assert!(
            !high_after((0..40).map(|n| if n < 30 { n * 90 } else { n * 90 + 200 })),
            "a pause begins the run anew"
        );
    }

    #[test]
    fn it_stops_when_one_has_not_come_in_time_and_needs_another_run() {
        let (tide, start) = (Tide::default(), Instant::now());
        let at = |micros| start + Duration::from_micros(micros);
        (0..=16).for_each(|n| tide.arrived(at(n * 50), None));
        assert!(tide.is_high(at(16 * 50 + 99)));
        assert!(!tide.is_high(at(16 * 50 + 101)));
        tide.arrived(at(16 * 50 + 102), None);
        assert!(!tide.is_high(at(16 * 50 + 103)));
    }

    #[tokio::test]
    async fn connections_that_take_turns_are_no_run() {
        let tide = Tide::default();
        let start = Instant::now();
        let ids = [
            tokio::spawn(async { tokio::task::id() }).await.ok(),
            tokio::spawn(async { tokio::task::id() }).await.ok(),
        ];
        for n in 0..100_u64 {
            let task = if n % 2 == 0 { ids[0] } else { ids[1] };
            tide.arrived(start + Duration::from_micros(n * 10), task);
        }
        assert!(!tide.is_high(start + Duration::from_micros(1000)));
    }

    #[test]
    fn half_of_the_cores_may_look() {
        let pollers = Pollers::new(4);
        let seats = (pollers.take(), pollers.take());
        assert!(seats.0.is_some() && seats.1.is_some() && pollers.take().is_none());
        drop(seats);
        assert!(pollers.take().is_some());
        assert!(Pollers::new(1).take().is_none(), "a client on the only core would wait for us");
    }
}
