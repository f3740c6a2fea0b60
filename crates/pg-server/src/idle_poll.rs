//! Looking for the next message a little longer before a thread sleeps.
//!
//! To wake a thread on an idle core takes longer than to answer a short statement, and a lone client that asks one thing
//! after the other would pay it each time. So while the messages of one connection follow its answers quickly,
//! its thread asks the poll again and again instead of sleeping in it, lets whoever else wants the core have it in between,
//! and stops as soon as a message has not come in time. How long the statements take makes no difference: a commit waits
//! for the disk, and its client is as quick as others. Clients that are farther away than [`LIMIT`], that think, or that
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

/// How quickly messages follow answers on a thread of connections. Not kept by thread: it may be exchanged for another.
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
    /// The connection's task whose messages they are.
    task: Option<Id>,
    /// When it was last sent an answer, if it has said nothing since.
    answered: Option<Instant>,
    /// How many of its messages have come in time since one did not.
    in_time: u32,
    /// Is the poller awake?
    polled: bool,
}

impl Tide {
    /// Notes that the present task, a connection's, was sent something by its client.
    pub(crate) fn received(&self) {
        self.received_at(Instant::now(), tokio::task::try_id());
    }

    /// Notes that the present task, a connection's, has answered its client.
    pub(crate) fn answered(&self) {
        self.answered_at(Instant::now(), tokio::task::try_id());
    }

    fn received_at(&self, now: Instant, task: Option<Id>) {
        let mut run = self.run.lock();
        if run.task != task {
            *run = Run { task, polled: run.polled, ..Run::default() };
        }
        // What comes before an answer is more of the same message.
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

    /// Is the next message likely to come soon? If not, the poller is taken for asleep.
    fn is_high(&self, now: Instant) -> bool {
        let mut run = self.run.lock();
        let in_time = run.answered.map(|answered| now.duration_since(answered) < LIMIT);
        if in_time == Some(false) {
            run.in_time = 0;
        }
        run.polled = run.in_time >= IN_TIME && in_time == Some(true);
        run.polled
    }

    /// Nobody looks, for now: another run has to come first.
    fn give_up(&self) {
        let mut run = self.run.lock();
        (run.in_time, run.polled) = (0, false);
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
        let Some(_seat) = pollers.take() else {
            tide.give_up();
            continue;
        };
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

    /// A client, each of whose statements takes `work`, and who thinks for so many microseconds before each message.
    fn after(tide: &Tide, work: u64, thoughts: impl IntoIterator<Item = u64>) -> Instant {
        let mut now = Instant::now();
        for thought in thoughts {
            now += Duration::from_micros(thought);
            tide.received_at(now, None);
            now += Duration::from_micros(work);
            tide.answered_at(now, None);
        }
        now
    }

    /// Is the tide high right after the last answer?
    fn high_after(work: u64, thoughts: impl IntoIterator<Item = u64>) -> bool {
        let tide = Tide::default();
        let now = after(&tide, work, thoughts);
        tide.is_high(now + Duration::from_micros(1))
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
        let tide = Tide::default();
        let end = after(&tide, 5, [50; 17]);
        let at = |micros| end + Duration::from_micros(micros);
        assert!(tide.is_high(at(99)));
        assert!(!tide.is_high(at(101)));
        tide.received_at(at(102), None);
        tide.answered_at(at(103), None);
        assert!(!tide.is_high(at(104)));
    }

    #[test]
    fn it_rests_while_a_statement_runs_and_goes_on_after_it() {
        let tide = Tide::default();
        let end = after(&tide, 5, [50; 17]);
        let at = |micros| end + Duration::from_micros(micros);
        tide.received_at(at(10), None);
        tide.received_at(at(20), None);
        assert!(!tide.is_high(at(30)), "a message in two parts");
        tide.answered_at(at(700), None);
        assert!(tide.is_high(at(750)));
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
            tide.received_at(start + Duration::from_micros(n * 10), task);
            tide.answered_at(start + Duration::from_micros(n * 10 + 5), task);
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
