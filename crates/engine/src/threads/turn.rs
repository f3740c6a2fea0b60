//! Computations that take long do not keep the thread that they share with other tasks.
//!
//! Connections are tasks of a few threads, and so are queries. A task that computes without waiting keeps its thread, and
//! whatever else has its turn there would wait for as long. tokio can go on with the other tasks of a thread on a new
//! one in the middle of a turn (`block_in_place`); the thread that computes then has one task only, and the operating
//! system shares the cores out. That costs two wake-ups, so it is done where it is worth it:
//!
//! ```text
//!   known to be long   planning, large statements, large commits          apart() from the beginning
//!   turns out long     functions, whatever asks `types::interrupt`         at the first question after a long turn
//! ```
//! Each thread that computes apart has work memory and an allocator's cache of its own, so joins, sorts and aggregates of
//! DataFusion, whose turns end with a batch, stay where they are.
//! Between its batches a plan ends a turn that has been long ([`is_over`]).
//! Threads of a program that embeds the engine are not exchanged: only those that [`starts_thread`] was called on are.

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

/// A turn of so long is no longer a short one where clients are served: others of its thread wait for it.
pub(crate) const CONNECTION_TURN: Duration = Duration::from_millis(5);
/// And where queries run, among which none is in such haste.
pub(crate) const QUERY_TURN: Duration = Duration::from_millis(100);
/// A turn of batches is over after this.
const BATCHES: Duration = Duration::from_millis(20);
/// Time for the new thread to take over. If it was too little, the next question tries again.
const TAKING_OVER: Duration = Duration::from_micros(200);

thread_local! {
    /// May other tasks go on elsewhere, and after how long a turn?
    static EXCHANGEABLE: Cell<Option<Duration>> = const { Cell::new(None) };
    /// When the turn began, or when the thread was given up.
    static BEGAN: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Puts the turn around back, also when its work panics.
struct Restore(Option<Instant>);

impl Drop for Restore {
    fn drop(&mut self) {
        BEGAN.set(self.0);
    }
}

/// To be called on each thread of a runtime of several threads whose tasks may go on elsewhere after a turn of `long`.
pub(crate) fn starts_thread(long: Duration) {
    EXCHANGEABLE.set(Some(long));
}

/// Computes what is known to be long.
pub(crate) fn apart<T>(work: impl FnOnce() -> T) -> T {
    if EXCHANGEABLE.get().is_some() { tokio::task::block_in_place(work) } else { work() }
}

/// Waits for what computes long each time that it has its turn.
pub(crate) async fn all_apart<F: Future>(work: F) -> F::Output {
    let mut work = pin!(work);
    poll_fn(|cx| turn_apart(|| work.as_mut().poll(cx))).await
}

/// One turn of a task, known to be long. It ends when its budget is used up, as on the runtime's own threads: there
/// are plans that give way for nothing else.
fn turn_apart<T>(work: impl FnOnce() -> T) -> T {
    if EXCHANGEABLE.get().is_none() {
        return work();
    }
    // The thread is given up: nobody has to be asked for that again.
    let _restore = Restore(BEGAN.replace(None));
    let mut work = Some(work);
    // Without a budget (`block_in_place` takes it away, tokio 1.54) a plan that never waits would never come back.
    let with_budget = poll_fn(|_| work.take().map_or(Poll::Pending, |work| Poll::Ready(work())));
    tokio::task::block_in_place(|| Handle::current().block_on(with_budget))
}

/// Gives the thread's other tasks away if the present one has computed for long. Asked in the middle of a computation.
pub(crate) fn give_way() {
    let Some((began, long)) = BEGAN.get().zip(EXCHANGEABLE.get()) else { return };
    if began.elapsed() >= long {
        leave();
    }
}

/// Gives the thread's other tasks away.
pub(crate) fn leave() {
    if BEGAN.get().is_some() && EXCHANGEABLE.get().is_some() {
        tokio::task::block_in_place(|| std::thread::sleep(TAKING_OVER));
        BEGAN.set(Some(Instant::now()));
    }
}

/// Has the present turn been long enough? Asked between batches, where a task can end its turn by itself.
pub(crate) fn is_over() -> bool {
    BEGAN.get().is_some_and(|began| began.elapsed() >= BATCHES)
}

/// Waits for `work`, which runs for `host`: what it computes may ask.
pub(crate) async fn watched<F: Future>(host: &Arc<dyn Host>, work: F) -> F::Output {
    watched_at(host, pin!(work), false).await
}

/// As [`watched`], of what stays where it is. `large`: each turn of it is long.
pub(crate) async fn watched_at<F: Future>(host: &Arc<dyn Host>, mut work: Pin<&mut F>, large: bool) -> F::Output {
    poll_fn(|cx| turn(host, large, || work.as_mut().poll(cx))).await
}

/// One turn of a task.
fn turn<T>(host: &Arc<dyn Host>, large: bool, work: impl FnOnce() -> T) -> T {
    let _restore = Restore(BEGAN.replace(Some(Instant::now())));
    let work = || interrupt::under(Some(Arc::clone(host)), work);
    if large { turn_apart(work) } else { work() }
}

/// Tasks that a plan starts run for whom the one runs that starts them.
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

/// Makes DataFusion's operators pass on whom they run for. Once for a process.
pub(crate) fn pass_on() {
    // An error is that it was done before: by another engine, or by a program that traces its tasks and does without.
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

        fn before_long(&self) -> Result<(), Interrupted> {
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

    /// A task that computes until it is told to stop, and how often another task of the only thread had its turn
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
