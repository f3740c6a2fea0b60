//! A condition variable controlled by the scheduler.

use super::lock::MutexGuard;
use super::place::Place;
use super::state::On;
use super::world::{Current, current};
use std::fmt;
use std::panic::Location;
use std::time::Duration;

/// As `parking_lot::Condvar`.
#[derive(Default)]
pub struct Condvar {
    /// Gives each condition variable a distinct address.
    _place: u8,
}

impl Condvar {
    /// A condition variable without waiters.
    pub const fn new() -> Self {
        Self { _place: 0 }
    }

    fn on(&self) -> On {
        On::Address(std::ptr::from_ref(self).addr())
    }

    /// Wakes one waiter.
    pub fn notify_one(&self) {
        if let Some(current) = current() {
            current.come(self.on(), true);
        }
    }

    /// Wakes all waiters.
    pub fn notify_all(&self) {
        if let Some(current) = current() {
            current.come(self.on(), false);
        }
    }

    /// Releases the lock and waits.
    #[track_caller]
    pub fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        self.wait_within(guard, None, Location::caller());
    }

    /// As [`Self::wait`] with a timeout.
    #[track_caller]
    pub fn wait_for<T>(&self, guard: &mut MutexGuard<'_, T>, time: Duration) {
        self.wait_within(guard, Some(time), Location::caller());
    }

    fn wait_within<T>(&self, guard: &mut MutexGuard<'_, T>, time: Option<Duration>, at: &'static Location<'static>) {
        let Some(current) = current() else { return };
        let lock = On::Address(guard.release.address);
        let mutex = parking_lot::MutexGuard::mutex(&guard.guard);
        parking_lot::MutexGuard::unlocked(&mut guard.guard, || {
            current.come(lock, false);
            current.wait(self.on(), time, Place { kind: "waiting for a signal", at });
            lock_is_free(&current, lock, || mutex.is_locked(), at);
        });
    }
}

/// Waits until the lock is free: this thread has the turn, so it must not block in the operating system.
fn lock_is_free(current: &Current, lock: On, is_locked: impl Fn() -> bool, at: &'static Location<'static>) {
    while is_locked() {
        current.wait(lock, None, Place { kind: "waiting for a lock", at });
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Condvar")
    }
}
