//! All tasks of a run, and the turn that they take.

use super::place::Place;
use super::state::{On, State, Status};
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

/// One run.
pub(super) struct World {
    pub(super) state: Mutex<State>,
    /// Signalled at the end.
    pub(super) over: Condvar,
}

/// The task of this thread.
#[derive(Clone)]
pub(super) struct Current {
    pub(super) world: Arc<World>,
    pub(super) task: usize,
}

thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
}

/// The task of this thread, if it belongs to a run.
pub(super) fn current() -> Option<Current> {
    CURRENT.try_with(|current| current.borrow().clone()).ok().flatten()
}

impl World {
    pub(super) fn new(seed: u64, left_out: Option<&'static str>) -> Arc<Self> {
        let state = State::new(seed, left_out);
        Arc::new(Self { state: Mutex::new(state), over: Condvar::new() })
    }

    /// Adds a task and its thread. It runs when it is chosen.
    ///
    /// # Errors
    /// The machine has no more threads.
    pub(super) fn start(
        self: &Arc<Self>,
        name: &str,
        serves: bool,
        body: impl FnOnce() + Send + 'static,
    ) -> std::io::Result<usize> {
        let mut state = self.state.lock();
        let task = state.add(name, serves);
        drop(state);
        let current = Current { world: self.clone(), task };
        let thread = std::thread::Builder::new().name(name.to_owned()).stack_size(4 << 20);
        thread.spawn(move || {
            CURRENT.set(Some(current.clone()));
            let mut state = current.world.state.lock();
            current.wait_for_turn(&mut state);
            drop(state);
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
            current.end(outcome.err().map(|panic| said(&*panic)));
        })?;
        Ok(task)
    }

    /// Ends the run: nobody gets the turn again.
    pub(super) fn fail(&self, state: &mut State, what: &str) {
        let told = state.tell();
        state.failure.get_or_insert(format!("{what}\n{told}"));
        self.over.notify_all();
    }
}

fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic").to_owned()
}

impl Current {
    /// Looks at what all share, without giving the turn away.
    pub(super) fn with<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.world.state.lock())
    }

    /// Gives the turn away, and is ready to have it back; now and then only after a while, as a thread that the machine
    /// leaves aside.
    pub(super) fn point(&self, place: Place) {
        let mut state = self.world.state.lock();
        if let Some(time) = state.stall() {
            drop(state);
            return self.wait(On::Time, Some(time), place);
        }
        let now = state.now;
        state.trace.step(self.task, place, now);
        self.hand_on(&mut state);
    }

    /// As [`Self::point`], and lets others go first.
    pub(super) fn step_back(&self, place: Place) {
        self.with(|state| state.policy.steps_back(self.task));
        self.point(place);
    }

    /// Waits until somebody says that `on` has come, or for a time. The turn is given away before anybody else moves,
    /// so what was looked at just before this call is still so.
    pub(super) fn wait(&self, on: On, time: Option<Duration>, place: Place) {
        let mut state = self.world.state.lock();
        let now = state.now;
        state.trace.step(self.task, place, now);
        let until = time.map(|time| now.saturating_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)));
        state.set(self.task, Status::Waiting { on, until, since: now, place });
        self.hand_on(&mut state);
    }

    /// Those who wait for `on` are ready; with `one`, one of them.
    pub(super) fn come(&self, on: On, one: bool) {
        self.with(|state| state.come(on, one));
    }

    /// Is the task at its end?
    pub(super) fn is_done(&self, task: usize) -> bool {
        self.with(|state| state.tasks.get(task).is_none_or(|task| matches!(task.status, Status::Done)))
    }

    fn end(&self, panic: Option<String>) {
        let mut state = self.world.state.lock();
        if let Some(panic) = panic {
            let name = state.name(self.task);
            self.world.fail(&mut state, &format!("{name} panicked: {panic}"));
            return;
        }
        state.set(self.task, Status::Done);
        state.come(On::Task(self.task), false);
        self.pass(&mut state);
    }

    fn hand_on(&self, state: &mut MutexGuard<'_, State>) {
        self.pass(state);
        self.wait_for_turn(state);
    }

    /// Gives the turn to whoever is next.
    fn pass(&self, state: &mut State) {
        match state.next() {
            Ok(Some(next)) => {
                state.running = next;
                if let Some(task) = state.tasks.get(next).filter(|_| next != self.task) {
                    task.turn.notify_one();
                }
            }
            Ok(None) => {
                state.ended = true;
                self.world.over.notify_all();
            }
            Err(what) => self.world.fail(state, &what),
        }
    }

    fn wait_for_turn(&self, state: &mut MutexGuard<'_, State>) {
        let Some(turn) = state.tasks.get(self.task).map(|task| task.turn.clone()) else { return };
        // After a failure nobody goes on: the threads of that run stay as they are.
        while state.running != self.task || state.failure.is_some() {
            turn.wait(state);
        }
    }
}
