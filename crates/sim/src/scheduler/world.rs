//! All tasks of a run, and the turn.

use super::place::Place;
use super::state::{On, State, Status};
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

/// One run.
pub(super) struct World {
    pub(super) state: Mutex<State>,
    /// Signalled at the end of the run.
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

    /// Adds a task with a thread. The task runs when it is chosen.
    ///
    /// # Errors
    /// The operating system refuses more threads.
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

    /// Ends the run: no task gets the turn again.
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
    /// Accesses the shared state without giving up the turn.
    pub(super) fn with<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.world.state.lock())
    }

    /// Gives up the turn and waits to get it back, occasionally after a delay, like a thread that the operating system
    /// does not schedule.
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

    /// As [`Self::point`], but lets other tasks run first.
    pub(super) fn step_back(&self, place: Place) {
        self.with(|state| state.policy.steps_back(self.task));
        self.point(place);
    }

    /// Waits for `on` or a timeout. No other task runs between the caller's last check and the wait, so what it checked
    /// still holds.
    pub(super) fn wait(&self, on: On, time: Option<Duration>, place: Place) {
        let mut state = self.world.state.lock();
        let now = state.now;
        state.trace.step(self.task, place, now);
        let until = time.map(|time| now.saturating_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)));
        state.set(self.task, Status::Waiting { on, until, since: now, place });
        self.hand_on(&mut state);
    }

    /// Readies the tasks that wait for `on`, or one of them if `one`.
    pub(super) fn come(&self, on: On, one: bool) {
        self.with(|state| state.come(on, one));
    }

    /// Returns true if the task has ended.
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

    /// Gives the turn to the next task.
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
        // After a failure no task continues: the threads of the run stay blocked.
        while state.running != self.task || state.failure.is_some() {
            turn.wait(state);
        }
    }
}
