//! Long computations ask whether to go on, as PostgreSQL's do with CHECK_FOR_INTERRUPTS.
//!
//! A cancel request and `statement_timeout` reach what waits by themselves. What computes without waiting must ask:
//! whoever runs a statement says so for its thread ([`under`]), and loops whose length is in a client's hand [`spend`]
//! what they do, or [`check`] now and then. Where nobody said anything, nothing is asked.

use std::cell::{Cell, RefCell};
use std::fmt::Debug;
use std::sync::Arc;

/// What runs is to end. Why is known to whom it runs for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the statement was stopped")]
pub struct Interrupted;

/// Whom the statement of a thread runs for.
pub trait Host: Debug + Send + Sync {
    /// May it go on? Asked from the middle of a computation.
    ///
    /// # Errors
    /// [`Interrupted`] when it is to end.
    fn go_on(&self) -> Result<(), Interrupted>;

    /// As [`Host::go_on`], before what takes long and cannot ask.
    ///
    /// # Errors
    /// [`Interrupted`] when it is to end.
    fn before_long(&self) -> Result<(), Interrupted>;

    /// Has its turn been so long that others should have theirs? Asked where a task can give way.
    ///
    /// # Errors
    /// [`Interrupted`] when it is to end.
    fn pause(&self) -> Result<bool, Interrupted>;
}

/// So much is done between two questions: well below a millisecond of the cheapest steps.
const PATIENCE: usize = 1 << 16;

thread_local! {
    static HOST: RefCell<Option<Arc<dyn Host>>> = const { RefCell::new(None) };
    static LEFT: Cell<usize> = const { Cell::new(PATIENCE) };
}

/// Does `work` for `host`, or for nobody.
pub fn under<T>(host: Option<Arc<dyn Host>>, work: impl FnOnce() -> T) -> T {
    /// Puts the old one back, also when `work` panics.
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

/// Whom this thread works for.
pub fn host() -> Option<Arc<dyn Host>> {
    HOST.with_borrow(Clone::clone)
}

/// Asks now.
///
/// # Errors
/// [`Interrupted`].
pub fn check() -> Result<(), Interrupted> {
    LEFT.set(PATIENCE);
    host().map_or(Ok(()), |host| host.go_on())
}

/// Asks before a step that takes long and cannot ask itself.
///
/// # Errors
/// [`Interrupted`].
pub fn long() -> Result<(), Interrupted> {
    host().map_or(Ok(()), |host| host.before_long())
}

/// Asks whether to give way now.
///
/// # Errors
/// [`Interrupted`].
pub fn pause() -> Result<bool, Interrupted> {
    host().map_or(Ok(false), |host| host.pause())
}

/// Notes so many steps of a few nanoseconds each (letters, digits, items), and asks when they have become many.
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

    /// Goes on so many times.
    #[derive(Debug)]
    struct Times(AtomicUsize);

    impl Host for Times {
        fn go_on(&self) -> Result<(), Interrupted> {
            let one_less = |left: usize| left.checked_sub(1);
            self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).map(drop).map_err(|_| Interrupted)
        }

        fn before_long(&self) -> Result<(), Interrupted> {
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
