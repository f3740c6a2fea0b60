//! Who may be connected: so many sessions, and beside them so many that are still to begin one.
//!
//! A socket that says nothing takes no session's seat. There are only so many of them: when one more comes, the one that
//! has been silent longest goes, since whoever means to begin a session says so at once.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio_util::sync::CancellationToken;

/// The seats of a server.
#[derive(Debug)]
pub(crate) struct Seats {
    taken: AtomicUsize,
    most: usize,
    /// By number, the oldest first. Held for one change.
    starting: Mutex<Starting>,
    most_starting: usize,
}

#[derive(Debug, Default)]
struct Starting {
    next: u64,
    open: BTreeMap<u64, CancellationToken>,
}

impl Seats {
    pub(crate) fn new(most: usize, most_starting: usize) -> Self {
        Self { taken: AtomicUsize::new(0), most, starting: Mutex::default(), most_starting: most_starting.max(1) }
    }

    /// A session begins, if there is room.
    pub(crate) fn take(self: &Arc<Self>) -> Option<Seat> {
        let one_more = |taken: usize| (taken < self.most).then_some(taken + 1);
        self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).ok()?;
        Some(Seat(Arc::clone(self)))
    }

    /// A connection that has no session yet. One of them too many sends the oldest away.
    pub(crate) fn start(self: &Arc<Self>) -> Opening {
        let mut starting = self.starting.lock();
        if starting.open.len() >= self.most_starting
            && let Some((_, oldest)) = starting.open.pop_first()
        {
            oldest.cancel();
        }
        let (number, goes) = (starting.next, CancellationToken::new());
        starting.next += 1;
        starting.open.insert(number, goes.clone());
        Opening { seats: Arc::clone(self), number, goes }
    }
}

/// A session's seat, free again when it is dropped.
#[derive(Debug)]
pub(crate) struct Seat(Arc<Seats>);

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.taken.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A connection without a session.
#[derive(Debug)]
pub(crate) struct Opening {
    seats: Arc<Seats>,
    number: u64,
    goes: CancellationToken,
}

impl Opening {
    /// Completes when it has to make room for another.
    pub(crate) async fn sent_away(&self) {
        self.goes.cancelled().await;
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        self.seats.starting.lock().open.remove(&self.number);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_seat_is_free_again_when_its_session_ends() {
        let seats = Arc::new(Seats::new(2, 1));
        let first = seats.take().unwrap();
        let _second = seats.take().unwrap();
        assert!(seats.take().is_none());
        drop(first);
        assert!(seats.take().is_some());
    }

    #[test]
    fn the_oldest_silent_connection_makes_room() {
        let seats = Arc::new(Seats::new(2, 2));
        let (first, second) = (seats.start(), seats.start());
        drop(first);
        let third = seats.start();
        assert!(!second.goes.is_cancelled());
        let _fourth = seats.start();
        assert!(second.goes.is_cancelled() && !third.goes.is_cancelled());
        assert!(seats.take().is_some(), "they take no session's seat");
    }
}
