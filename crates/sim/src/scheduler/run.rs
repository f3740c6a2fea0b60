//! One run, from the seed to the end.

use super::world::World;
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Real time without a step after which a run counts as blocked within a task.
const STANDSTILL: Duration = Duration::from_secs(120);

/// The input of a run.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Determines the whole run.
    pub seed: u64,
    /// A part of the code that is disabled, see [`super::is_left_out`].
    pub left_out: Option<&'static str>,
}

/// A finished run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended<T> {
    /// The result of the first task.
    pub value: T,
    /// A hash of all steps: the task, the place and the time of each, and the noted values.
    pub trace: u64,
    /// The number of steps.
    pub steps: u64,
}

/// A failed run: the error, the positions of all tasks, and the last steps.
#[derive(Clone, Debug)]
pub struct Failure(pub String);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Runs `body` as the first task until all tasks have ended. After a failure the threads stay blocked.
///
/// # Errors
/// [`Failure`]: a task panicked or waits forever, or the run does not end.
pub fn run<T: Send + 'static>(
    settings: Settings,
    body: impl FnOnce() -> T + Send + 'static,
) -> Result<Ended<T>, Failure> {
    let world = World::new(settings.seed, settings.left_out);
    let value = Arc::new(Mutex::new(None));
    let into = value.clone();
    let first = world.start("first", false, move || {
        let value = body();
        *into.lock() = Some(value);
    });
    first.map_err(|error| Failure(error.to_string()))?;
    let mut state = world.state.lock();
    let mut steps = 0;
    while !state.ended && state.failure.is_none() {
        let timed_out = world.over.wait_for(&mut state, STANDSTILL).timed_out();
        if timed_out && std::mem::replace(&mut steps, state.trace.steps()) == state.trace.steps() {
            world.fail(&mut state, "a task stands still");
        }
    }
    if let Some(failure) = &state.failure {
        return Err(Failure(failure.clone()));
    }
    let (trace, steps) = (state.trace.hash(), state.trace.steps());
    drop(state);
    let value = value.lock().take().ok_or_else(|| Failure("the first task returned nothing".to_owned()))?;
    Ok(Ended { value, trace, steps })
}
