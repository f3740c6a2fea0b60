//! Cancellation checks in long computations, as PostgreSQL's CHECK_FOR_INTERRUPTS.
//!
//! A cancel request and `statement_timeout` end a wait by themselves. A computation that does not wait must check for
//! them: the executor of a statement sets the host of its thread ([`under`]), and loops whose length a client controls
//! count their steps by [`spend`], or call [`check`] now and then. Without a host, no check is made.

use std::cell::{Cell, RefCell};
use std::fmt::Debug;
use std::sync::Arc;

/// The statement must end. Its host has the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the statement was stopped")]
pub struct Interrupted;

/// The statement that a thread works for.
pub trait Host: Debug + Send + Sync {
    /// Checks whether the statement may go on. Called in the middle of a computation.
    ///
    /// # Errors
    /// [`Interrupted`] if the statement must end.
    fn go_on(&self) -> Result<(), Interrupted>;

    /// As [`Host::go_on`], before a long step without checks.
    ///
    /// # Errors
    /// [`Interrupted`] if the statement must end.
    fn before_long_step(&self) -> Result<(), Interrupted>;

    /// Returns whether the task has run so long that it should yield. Called where a task can yield.
    ///
    /// # Errors
    /// [`Interrupted`] if the statement must end.
    fn pause(&self) -> Result<bool, Interrupted>;
}

/// The number of steps between two checks: well below a millisecond of the cheapest steps.
const PATIENCE: usize = 1 << 16;

thread_local! {
    static HOST: RefCell<Option<Arc<dyn Host>>> = const { RefCell::new(None) };
    static LEFT: Cell<usize> = const { Cell::new(PATIENCE) };
}

/// Runs `work` for `host`, or without a host.
pub fn under<T>(host: Option<Arc<dyn Host>>, work: impl FnOnce() -> T) -> T {
    /// Restores the previous host, also if `work` panics.
    struct Restore(Option<Arc<dyn Host>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            let own = HOST.replace(self.0.take());
            drop(own);
        }
    }
    let _restore = Restore(HOST.replace(host));
    work()
}

/// Returns the host of this thread.
pub fn host() -> Option<Arc<dyn Host>> {
    HOST.with_borrow(Clone::clone)
}

/// Checks for cancellation.
///
/// # Errors
/// [`Interrupted`].
pub fn check() -> Result<(), Interrupted> {
    LEFT.set(PATIENCE);
    host().map_or(Ok(()), |host| host.go_on())
}

/// Checks for cancellation before a long step without checks.
///
/// # Errors
/// [`Interrupted`].
pub fn long() -> Result<(), Interrupted> {
    host().map_or(Ok(()), |host| host.before_long_step())
}

/// Returns whether the task should yield now.
///
/// # Errors
/// [`Interrupted`].
pub fn pause() -> Result<bool, Interrupted> {
    host().map_or(Ok(false), |host| host.pause())
}

/// Counts so many steps of a few nanoseconds each (characters, digits, items), and checks for cancellation after many.
///
/// # Errors
/// [`Interrupted`].
pub fn spend(steps: usize) -> Result<(), Interrupted> {
    match LEFT.get().checked_sub(steps) {
        Some(left) => {
            LEFT.set(left);
            Ok(())
        }
        None => check(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Allows so many checks.
    #[derive(Debug)]
    struct Times(AtomicUsize);

    impl Host for Times {
        fn go_on(&self) -> Result<(), Interrupted> {
            let one_less = |left: usize| left.checked_sub(1);
            self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).map(drop).map_err(|_| Interrupted)
        }

        fn before_long_step(&self) -> Result<(), Interrupted> {
            self.go_on()
        }

        fn pause(&self) -> Result<bool, Interrupted> {
            self.go_on().map(|()| true)
        }
    }

    #[test]
    fn long_work_is_asked_about_and_short_work_is_not() {
        let host: Arc<dyn Host> = Arc::new(Times(AtomicUsize::new(0)));
        under(Some(host), || {
            LEFT.set(PATIENCE);
            assert_eq!(spend(10), Ok(()));
            assert_eq!(spend(PATIENCE), Err(Interrupted));
            assert_eq!(spend(10), Ok(()), "the count begins anew");
            assert_eq!(check(), Err(Interrupted));
        });
        assert_eq!((check(), long(), pause()), (Ok(()), Ok(()), Ok(false)), "nobody asks any more");
    }

    #[test]
    fn the_host_around_comes_back() {
        let (outer, inner): (Arc<dyn Host>, Arc<dyn Host>) =
            (Arc::new(Times(AtomicUsize::new(1))), Arc::new(Times(AtomicUsize::new(0))));
        under(Some(outer), || {
            assert_eq!(under(Some(inner), check), Err(Interrupted));
            assert_eq!(under(None, check), Ok(()));
            assert_eq!(check(), Ok(()));
            assert_eq!(check(), Err(Interrupted));
        });
    }
}
