//! A mutex controlled by the scheduler.

use super::place::Place;
use super::state::On;
use super::world::current;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::Location;

/// As `parking_lot::Mutex`.
pub struct Mutex<T>(parking_lot::Mutex<T>);

/// As `parking_lot::MutexGuard`.
pub struct MutexGuard<'a, T> {
    // Dropped first, so that the lock is free before waiters are woken.
    pub(super) guard: parking_lot::MutexGuard<'a, T>,
    pub(super) release: Release,
}

/// Wakes the waiters of the lock at this address.
pub(super) struct Release {
    pub(super) address: usize,
    taken: &'static Location<'static>,
}

impl<T> Mutex<T> {
    /// A mutex with `value`.
    pub const fn new(value: T) -> Self {
        Self(parking_lot::Mutex::new(value))
    }

    /// Waits for the lock and locks it.
    #[track_caller]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        let taken = Location::caller();
        let address = std::ptr::from_ref(&self.0).addr();
        let release = Release { address, taken };
        let Some(current) = current() else { return MutexGuard { guard: self.0.lock(), release } };
        current.point(Place { kind: "lock", at: taken });
        loop {
            if let Some(guard) = self.0.try_lock() {
                return MutexGuard { guard, release };
            }
            current.wait(On::Address(address), None, Place { kind: "waiting for a lock", at: taken });
        }
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mutex")
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

impl Drop for Release {
    fn drop(&mut self) {
        if let Some(current) = current() {
            current.come(On::Address(self.address), false);
            current.point(Place { kind: "unlock", at: self.taken });
        }
    }
}
