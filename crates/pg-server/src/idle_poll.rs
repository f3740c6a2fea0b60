//! Polls for the next message for a short time before a thread sleeps.
//!
//! Waking a thread on an idle core takes longer than answering a short statement, and a single client that sends one
//! statement after the other would pay for the wake-up each time. So while the messages of one connection follow its
//! responses quickly, its thread polls the sockets instead of sleeping, yields the core between polls, and stops as
//! soon
//! as a message is late. The run time of statements does not matter: a commit waits for the disk, but its client is as
//! quick as others. Clients with a latency above [`LIMIT`], with think time, or that share the thread cost nothing:
//! with
//! several clients the next message has mostly arrived already. Seastar's reactor polls before it sleeps for the same
//! reason.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::task::Id;

/// How long to poll for the next message.
const LIMIT: Duration = Duration::from_micros(100);
/// Consecutive messages that must arrive within [`LIMIT`] before a thread polls.
const IN_TIME: u32 = 16;

/// Tracks how quickly messages follow responses on a worker thread. Not a thread-local: the runtime may replace the
/// thread.
#[derive(Debug, Default)]
pub(crate) struct MessagePace {
    /// Locked for one read or update only.
    run: Mutex<Run>,
    /// Wakes the poller.
    poller: Notify,
}

/// A run of messages that arrived within [`LIMIT`].
#[derive(Debug, Default)]
struct Run {
    /// The connection's task.
    task: Option<Id>,
    /// When the last response was sent, if no message has come since.
    answered: Option<Instant>,
    /// Consecutive messages of the connection that arrived within [`LIMIT`].
    in_time: u32,
    /// Whether the poller is awake.
    polled: bool,
}

impl MessagePace {
    /// Records that the current task, a connection's, received bytes from its client.
    pub(crate) fn received(&self) {
        self.received_at(Instant::now(), tokio::task::try_id());
    }

    /// Records that the current task, a connection's, sent its response.
    pub(crate) fn answered(&self) {
        self.answered_at(Instant::now(), tokio::task::try_id());
    }

    fn received_at(&self, now: Instant, task: Option<Id>) {
        let mut run = self.run.lock();
        if run.task != task {
            *run = Run { task, polled: run.polled, ..Run::default() };
        }
        // Bytes before the response belong to the same message.
        let Some(answered) = run.answered.take() else { return };
        run.in_time = if now.duration_since(answered) < LIMIT { run.in_time.saturating_add(1) } else { 0 };
    }

    fn answered_at(&self, now: Instant, task: Option<Id>) {
        let mut run = self.run.lock();
        if run.task != task {
            return;
        }
        run.answered = Some(now);
        if run.in_time >= IN_TIME && !run.polled {
            run.polled = true;
            self.poller.notify_one();
        }
    }

    /// Returns whether the next message is expected within [`LIMIT`]. If not, marks the poller as asleep.
    fn expects_message(&self, now: Instant) -> bool {
        let mut run = self.run.lock();
        let in_time = run.answered.map(|answered| now.duration_since(answered) < LIMIT);
        if in_time == Some(false) {
            run.in_time = 0;
        }
        run.polled = run.in_time >= IN_TIME && in_time == Some(true);
        run.polled
    }

    /// Stops polling until another run of quick messages.
    fn give_up(&self) {
        let mut run = self.run.lock();
        (run.in_time, run.polled) = (0, false);
    }
}

/// Limits how many threads poll at a time, since the clients need cores too.
#[derive(Debug)]
pub(crate) struct Pollers {
    free: AtomicUsize,
}

impl Pollers {
    /// Allows half of `cores` to poll.
    pub(crate) fn new(cores: usize) -> Self {
        Self { free: AtomicUsize::new(cores / 2) }
    }

    fn take(&self) -> Option<Seat<'_>> {
        let one_less = |free: usize| free.checked_sub(1);
        self.free.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).ok().map(|_| Seat(self))
    }
}

/// A polling thread's permit.
struct Seat<'a>(&'a Pollers);

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.0.free.fetch_add(1, Ordering::Relaxed);
    }
}

/// Keeps the current runtime awake while messages come quickly. Each worker runs this as one task.
pub(crate) async fn run(pollers: &Pollers, tide: &MessagePace) {
    loop {
        tide.poller.notified().await;
        let Some(_seat) = pollers.take() else {
            tide.give_up();
            continue;
        };
        while tide.expects_message(Instant::now()) {
            std::thread::yield_now();
            // With no other task to run, the runtime polls its sockets without blocking.
            tokio::task::yield_now().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates a client: each statement takes `work`, and each message comes after a think time of `thoughts`
    /// microseconds.
    fn after(tide: &MessagePace, work: u64, thoughts: impl IntoIterator<Item = u64>) -> Instant {
        let mut now = Instant::now();
        for thought in thoughts {
            now += Duration::from_micros(thought);
            tide.received_at(now, None);
            now += Duration::from_micros(work);
            tide.answered_at(now, None);
        }
        now
    }

    /// Returns `expects_message` right after the last response.
    fn high_after(work: u64, thoughts: impl IntoIterator<Item = u64>) -> bool {
        let tide = MessagePace::default();
        let now = after(&tide, work, thoughts);
        tide.expects_message(now + Duration::from_micros(1))
    }

    #[test]
    fn a_thread_looks_for_messages_after_a_run_of_quick_ones() {
        assert!(high_after(5, [90; 17]));
        assert!(high_after(5_000, [90; 17]), "however long its statements take");
        assert!(!high_after(5, [90; 16]), "one too few");
        assert!(!high_after(5, [110; 17]), "too late");
        assert!(!high_after(5, [[90; 30].as_slice(), &[200], &[90; 9]].concat()), "a pause begins the run anew");
    }

    #[test]
    fn it_stops_when_one_has_not_come_in_time_and_needs_another_run() {
        let tide = MessagePace::default();
        let end = after(&tide, 5, [50; 17]);
        let at = |micros| end + Duration::from_micros(micros);
        assert!(tide.expects_message(at(99)));
        assert!(!tide.expects_message(at(101)));
        tide.received_at(at(102), None);
        tide.answered_at(at(103), None);
        assert!(!tide.expects_message(at(104)));
    }

    #[test]
    fn it_rests_while_a_statement_runs_and_goes_on_after_it() {
        let tide = MessagePace::default();
        let end = after(&tide, 5, [50; 17]);
        let at = |micros| end + Duration::from_micros(micros);
        tide.received_at(at(10), None);
        tide.received_at(at(20), None);
        assert!(!tide.expects_message(at(30)), "a message in two parts");
        tide.answered_at(at(700), None);
        assert!(tide.expects_message(at(750)));
    }

    #[tokio::test]
    async fn connections_that_take_turns_are_no_run() {
        let tide = MessagePace::default();
        let start = Instant::now();
        let ids = [
            tokio::spawn(async { tokio::task::id() }).await.ok(),
            tokio::spawn(async { tokio::task::id() }).await.ok(),
        ];
        for n in 0..100_u64 {
            let task = if n % 2 == 0 { ids[0] } else { ids[1] };
            tide.received_at(start + Duration::from_micros(n * 10), task);
            tide.answered_at(start + Duration::from_micros(n * 10 + 5), task);
        }
        assert!(!tide.expects_message(start + Duration::from_micros(1000)));
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
