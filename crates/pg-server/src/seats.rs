//! Who may be connected: so many sessions, and beside them so many that are still to begin one.
//!
//! The last seats are kept for the operator, who then can still see who takes the others, and end them.
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
    /// Those of them that only the operator has.
    reserved: usize,
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
    pub(crate) fn new(most: usize, reserved: usize, most_starting: usize) -> Self {
        let most_starting = most_starting.max(1);
        Self { taken: AtomicUsize::new(0), most, reserved, starting: Mutex::default(), most_starting }
    }

    /// A session begins, of the operator or of somebody else.
    ///
    /// # Errors
    /// [`Full`] when there is no room for it.
    pub(crate) fn take(self: &Arc<Self>, operator: bool) -> Result<Seat, Full> {
        let most = if operator { self.most } else { self.most.saturating_sub(self.reserved) };
        let one_more = |taken: usize| (taken < most).then_some(taken + 1);
        match self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more) {
            Ok(_) => Ok(Seat(Arc::clone(self))),
            Err(taken) if taken < self.most => Err(Full::Reserved),
            Err(_) => Err(Full::All),
        }
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

/// Why there is no seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Full {
    #[error("sorry, too many clients already")]
    All,
    #[error("remaining connection slots are reserved for non-replication superuser connections")]
    Reserved,
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
        let seats = Arc::new(Seats::new(2, 0, 1));
        let first = seats.take(false).unwrap();
        let _second = seats.take(false).unwrap();
        assert_eq!(seats.take(false).unwrap_err(), Full::All);
        drop(first);
        assert!(seats.take(false).is_ok());
    }

    #[test]
    fn the_last_seats_are_the_operators() {
        let seats = Arc::new(Seats::new(3, 1, 1));
        let (first, _second) = (seats.take(false).unwrap(), seats.take(false).unwrap());
        assert_eq!(seats.take(false).unwrap_err(), Full::Reserved);
        let _third = seats.take(true).unwrap();
        assert_eq!(seats.take(false).unwrap_err(), Full::All);
        assert_eq!(seats.take(true).unwrap_err(), Full::All);
        drop(first);
        // The operator's seat is any of them: one stays free all the same.
        assert_eq!(seats.take(false).unwrap_err(), Full::Reserved);
    }

    #[test]
    fn the_oldest_silent_connection_makes_room() {
        let seats = Arc::new(Seats::new(2, 0, 2));
        let (first, second) = (seats.start(), seats.start());
        drop(first);
        let third = seats.start();
        assert!(!second.goes.is_cancelled());
        let _fourth = seats.start();
        assert!(second.goes.is_cancelled() && !third.goes.is_cancelled());
        assert!(seats.take(false).is_ok(), "they take no session's seat");
    }
}
