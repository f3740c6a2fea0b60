//! Keeps long computations from blocking other tasks of their thread.
//!
//! Connections are tasks on a few threads, and so are queries. A task that computes without waiting blocks all other
//! tasks of its thread. In the middle of a poll tokio can move the other tasks to a new thread (`block_in_place`);
//! the computing thread then has one task only, and the operating system schedules the threads. That costs two
//! wake-ups, so it is done only where it pays:
//!
//! ```text
//!   known to be long   planning, large statements, large commits          apart() from the beginning
//!   turns out long     functions, code with `types::interrupt` checks     at the first check after a long turn
//! ```
//! Each thread that computes apart has its own work memory and allocator cache. So joins, sorts and aggregates of
//! DataFusion, whose turns end with a batch, stay on their thread.
//! Between batches a plan ends a turn that has been long ([`is_over`]).
//! Threads of a program that embeds the engine are not affected, only those on which [`starts_thread`] was called.

use datafusion::common::runtime::{JoinSetTracer, set_join_set_tracer};
use futures::FutureExt;
use futures::future::BoxFuture;
use std::any::Any;
use std::cell::Cell;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use types::interrupt::{self, Host};

/// The longest turn on a thread that serves clients, before its other tasks are moved.
pub(crate) const CONNECTION_TURN: Duration = Duration::from_millis(5);
/// The longest turn on a query thread, where no task is as urgent.
pub(crate) const QUERY_TURN: Duration = Duration::from_millis(100);
/// A turn of batches ends after this time.
const BATCHES: Duration = Duration::from_millis(20);
/// Time for the new thread to take over. If it is too short, the next check tries again.
const TAKING_OVER: Duration = Duration::from_micros(200);

thread_local! {
    /// Whether other tasks may move to another thread, and after how long a turn.
    static EXCHANGEABLE: Cell<Option<Duration>> = const { Cell::new(None) };
    /// Start of the turn, or of the time since the thread's other tasks were moved.
    static BEGAN: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Restores the enclosing turn, also if the work panics.
struct Restore(Option<Instant>);

impl Drop for Restore {
    fn drop(&mut self) {
        BEGAN.set(self.0);
    }
}

/// Called on each thread of a multi-threaded runtime whose other tasks may move after a turn of `long`.
pub(crate) fn starts_thread(long: Duration) {
    EXCHANGEABLE.set(Some(long));
}

/// Runs a computation that is known to be long.
pub(crate) fn apart<T>(work: impl FnOnce() -> T) -> T {
    if EXCHANGEABLE.get().is_some() { tokio::task::block_in_place(work) } else { work() }
}

/// Awaits work of which each poll is long.
pub(crate) async fn all_apart<F: Future>(work: F) -> F::Output {
    let mut work = pin!(work);
    poll_fn(|cx| turn_apart(|| work.as_mut().poll(cx))).await
}

/// Runs one poll that is known to be long. It ends when the task's budget is used up, as on the runtime's own
/// threads, because some plans yield for nothing else.
fn turn_apart<T>(work: impl FnOnce() -> T) -> T {
    if EXCHANGEABLE.get().is_none() {
        return work();
    }
    // The other tasks have moved already, so interrupt checks need not move them.
    let _restore = Restore(BEGAN.replace(None));
    let mut work = Some(work);
    // `block_in_place` (tokio 1.54) removes the budget, and a plan that never waits would then never return.
    let with_budget = poll_fn(|_| work.take().map_or(Poll::Pending, |work| Poll::Ready(work())));
    tokio::task::block_in_place(|| Handle::current().block_on(with_budget))
}

/// Moves the thread's other tasks if the current one has computed for long. Called by interrupt checks.
pub(crate) fn give_way() {
    let Some((began, long)) = BEGAN.get().zip(EXCHANGEABLE.get()) else { return };
    if began.elapsed() >= long {
        leave();
    }
}

/// Moves the thread's other tasks to another thread.
pub(crate) fn leave() {
    if BEGAN.get().is_some() && EXCHANGEABLE.get().is_some() {
        tokio::task::block_in_place(|| std::thread::sleep(TAKING_OVER));
        BEGAN.set(Some(Instant::now()));
    }
}

/// Whether the current turn has been long enough. Called between batches, where a task can end its turn itself.
pub(crate) fn is_over() -> bool {
    BEGAN.get().is_some_and(|began| began.elapsed() >= BATCHES)
}

/// Awaits `work` with `host` as the target of its interrupt checks.
pub(crate) async fn watched<F: Future>(host: &Arc<dyn Host>, work: F) -> F::Output {
    watched_at(host, pin!(work), false).await
}

/// As [`watched`], for pinned work. `large`: each poll is long.
pub(crate) async fn watched_at<F: Future>(host: &Arc<dyn Host>, mut work: Pin<&mut F>, large: bool) -> F::Output {
    poll_fn(|cx| turn(host, large, || work.as_mut().poll(cx))).await
}

/// Runs one poll of a task.
fn turn<T>(host: &Arc<dyn Host>, large: bool, work: impl FnOnce() -> T) -> T {
    let _restore = Restore(BEGAN.replace(Some(Instant::now())));
    let work = || interrupt::under(Some(Arc::clone(host)), work);
    if large { turn_apart(work) } else { work() }
}

/// Passes the host of a task on to the tasks that a DataFusion plan spawns.
struct PassedOn;

impl JoinSetTracer for PassedOn {
    fn trace_future(&self, work: BoxFuture<'static, Box<dyn Any + Send>>) -> BoxFuture<'static, Box<dyn Any + Send>> {
        match interrupt::host() {
            Some(host) => async move { watched(&host, work).await }.boxed(),
            None => work,
        }
    }

    fn trace_block(
        &self,
        work: Box<dyn FnOnce() -> Box<dyn Any + Send> + Send>,
    ) -> Box<dyn FnOnce() -> Box<dyn Any + Send> + Send> {
        match interrupt::host() {
            Some(host) => Box::new(|| interrupt::under(Some(host), work)),
            None => work,
        }
    }
}

/// Makes DataFusion's operators pass on their host. Once per process.
pub(crate) fn pass_on() {
    // An error means that a tracer is set: by another engine, or by an embedding program, which then does without.
    let _ = set_join_set_tracer(&PassedOn);
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use types::interrupt::Interrupted;

    #[derive(Debug, Default)]
    struct Always(AtomicBool);

    impl Host for Always {
        fn go_on(&self) -> Result<(), Interrupted> {
            give_way();
            if self.0.load(Ordering::Relaxed) { Err(Interrupted) } else { Ok(()) }
        }

        fn before_long_step(&self) -> Result<(), Interrupted> {
            leave();
            self.go_on()
        }

        fn pause(&self) -> Result<bool, Interrupted> {
            self.go_on().map(|()| is_over())
        }
    }

    fn one_thread() -> tokio::runtime::Runtime {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        builder.worker_threads(1).on_thread_start(|| starts_thread(CONNECTION_TURN)).enable_all().build().unwrap()
    }

    /// Runs a task that computes until it is stopped; returns how often another task of the only thread ran
    /// meanwhile.
    fn turns_beside(compute: impl FnOnce(&Always) + Send + 'static) -> usize {
        let runtime = one_thread();
        let host = Arc::new(Always::default());
        let seen: Arc<dyn Host> = Arc::clone(&host) as Arc<dyn Host>;
        let stops = Arc::clone(&host);
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        let computing = runtime.spawn(async move { watched(&seen, async { compute(&host) }).await });
        let counting = runtime.spawn(async move {
            for _ in 0..20 {
                tokio::time::sleep(Duration::from_millis(5)).await;
                counted.fetch_add(1, Ordering::Relaxed);
            }
            stops.0.store(true, Ordering::Relaxed);
        });
        let began = Instant::now();
        while !(computing.is_finished() && counting.is_finished()) && began.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(5));
        }
        runtime.shutdown_background();
        count.load(Ordering::Relaxed)
    }

    #[test]
    fn others_of_the_thread_go_on_while_a_task_computes_and_asks() {
        assert_eq!(turns_beside(|_| while interrupt::check().is_ok() {}), 20);
    }

    #[test]
    fn others_of_the_thread_go_on_while_a_task_computes_apart() {
        assert_eq!(
            turns_beside(|host| apart(|| while !host.0.load(Ordering::Relaxed) {
                std::hint::spin_loop()
            })),
            20
        );
    }

    #[test]
    fn a_turn_apart_ends_when_its_budget_is_used_up() {
        let runtime = one_thread();
        let done = runtime.block_on(async {
            let endless = all_apart(async {
                loop {
                    tokio::task::consume_budget().await;
                }
            });
            tokio::spawn(async { tokio::time::timeout(Duration::from_millis(100), endless).await }).await
        });
        let done: Result<(), _> = done.unwrap();
        assert!(done.is_err());
    }
}
