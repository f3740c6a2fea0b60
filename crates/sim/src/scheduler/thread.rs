//! Threads and sleeping, with the API of `std::thread`.

use super::place::Place;
use super::state::On;
use super::world::current;
use std::panic::Location;
use std::time::Duration;

/// A thread of the run.
#[derive(Debug)]
pub struct JoinHandle {
    task: usize,
    at: &'static Location<'static>,
}

/// Starts a thread. With `serves` it may wait forever, as long as no thread waits for it.
///
/// # Errors
/// Outside of a run, or if the operating system refuses more threads.
#[track_caller]
pub fn spawn(name: &str, serves: bool, body: impl FnOnce() + Send + 'static) -> std::io::Result<JoinHandle> {
    let at = Location::caller();
    let current = current().ok_or_else(|| std::io::Error::other("this is no run of the scheduler"))?;
    let task = current.world.start(name, serves, body)?;
    current.point(Place { kind: "spawn", at });
    Ok(JoinHandle { task, at })
}

/// Sleeps in simulated time.
#[track_caller]
pub fn sleep(time: Duration) {
    let place = Place { kind: "sleep", at: Location::caller() };
    if let Some(current) = current() {
        current.wait(On::Time, Some(time), place);
    }
}

/// Lets other tasks run first.
#[track_caller]
pub fn yield_now() {
    let place = Place { kind: "yield", at: Location::caller() };
    if let Some(current) = current() {
        current.step_back(place);
    }
}

impl JoinHandle {
    /// Waits for the end of the thread. A thread that panics ends the run.
    ///
    /// # Errors
    /// None.
    pub fn join(self) -> std::thread::Result<()> {
        if let Some(current) = current() {
            while !current.is_done(self.task) {
                current.wait(On::Task(self.task), None, Place { kind: "join", at: self.at });
            }
        }
        Ok(())
    }
}
