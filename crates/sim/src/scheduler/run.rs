//! One run, from its seed to its end.

use super::world::World;
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Of the machine's time. A run that has no step for so long stands still within one.
const STANDSTILL: Duration = Duration::from_secs(120);

/// What a run depends on.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// All of it follows from this.
    pub seed: u64,
    /// A part of the code that is left out, see [`super::is_left_out`].
    pub left_out: Option<&'static str>,
}

/// A run that came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended<T> {
    /// What its first task returned.
    pub value: T,
    /// A hash of all steps: who had the turn, where and when, and what was noted.
    pub trace: u64,
    /// How many there were.
    pub steps: u64,
}

/// What went wrong, where all tasks were, and the last steps.
#[derive(Clone, Debug)]
pub struct Failure(pub String);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Runs `body` as the first task, until all tasks are at their end. After a failure its threads stay as they are.
///
/// # Errors
/// [`Failure`]: a task panicked, waits for ever, or the run does not end.
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
