//! Async support: each future is waited for by one task, and blocking work runs in a task of its own.

use super::place::Place;
use super::state::On;
use super::world::{Current, current};
use parking_lot::Mutex;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

struct Alarm {
    current: Current,
    rung: AtomicBool,
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rung.store(true, Ordering::Relaxed);
        self.current.come(On::Wake(self.current.task), false);
    }
}

/// Waits for `future`; returns `None` outside of a run.
#[track_caller]
pub fn block_on<F: Future>(future: F) -> Option<F::Output> {
    let at = Location::caller();
    let current = current()?;
    let alarm = Arc::new(Alarm { current: current.clone(), rung: AtomicBool::new(false) });
    let waker = Waker::from(alarm.clone());
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return Some(output);
        }
        if alarm.rung.swap(false, Ordering::Relaxed) {
            current.step_back(Place { kind: "poll again", at });
        } else {
            current.wait(On::Wake(current.task), None, Place { kind: "waiting for a future", at });
            alarm.rung.store(false, Ordering::Relaxed);
        }
    }
}

/// The result of another task. If dropped, the task continues.
pub struct Work<T> {
    slot: Arc<Mutex<Slot<T>>>,
}

struct Slot<T> {
    done: Option<T>,
    waker: Option<Waker>,
}

/// The error of a task, which does not occur: a task that panics ends the run.
#[derive(Debug)]
pub struct JoinError(&'static str);

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Runs work in a task of its own.
#[track_caller]
pub fn spawn_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Work<T> {
    let slot = Arc::new(Mutex::new(Slot { done: None, waker: None }));
    let shared = slot.clone();
    let started = super::thread::spawn("work", false, move || {
        let done = work();
        let mut slot = shared.lock();
        slot.done = Some(done);
        let waker = slot.waker.take();
        drop(slot);
        if let Some(waker) = waker {
            waker.wake();
        }
    });
    if let (Err(error), Some(current)) = (started, current()) {
        current.with(|state| current.world.fail(state, &format!("no thread for work: {error}")));
    }
    Work { slot }
}

impl<T> Future for Work<T> {
    type Output = Result<T, JoinError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut slot = self.slot.lock();
        match slot.done.take() {
            Some(done) => Poll::Ready(Ok(done)),
            None => {
                slot.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}
