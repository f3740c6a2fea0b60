//! Connection slots: a limit of sessions, and a separate limit of connections that have not begun a session.
//!
//! The last session slots are reserved for the operator, who can then still inspect the other sessions and end them.
//!
//! A silent socket takes no session slot. If there are too many silent sockets, the oldest is closed, since a client
//! that wants a session sends its startup packet at once.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio_util::sync::CancellationToken;

/// The connection slots of a server.
#[derive(Debug)]
pub(crate) struct ConnectionSlots {
    taken: AtomicUsize,
    most: usize,
    /// How many of `most` only the operator may take.
    reserved: usize,
    /// Connections without a session by number, the oldest first. Locked for one change only.
    starting: Mutex<Starting>,
    most_starting: usize,
}

#[derive(Debug, Default)]
struct Starting {
    next: u64,
    open: BTreeMap<u64, CancellationToken>,
}

impl ConnectionSlots {
    pub(crate) fn new(most: usize, reserved: usize, most_starting: usize) -> Self {
        let most_starting = most_starting.max(1);
        Self { taken: AtomicUsize::new(0), most, reserved, starting: Mutex::default(), most_starting }
    }

    /// Takes a slot for a session of the operator or of another user.
    ///
    /// # Errors
    /// [`Full`] when there is no free slot.
    pub(crate) fn take(self: &Arc<Self>, operator: bool) -> Result<Seat, Full> {
        let most = if operator { self.most } else { self.most.saturating_sub(self.reserved) };
        let one_more = |taken: usize| (taken < most).then_some(taken + 1);
        match self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more) {
            Ok(_) => Ok(Seat(Arc::clone(self))),
            Err(taken) if taken < self.most => Err(Full::Reserved),
            Err(_) => Err(Full::All),
        }
    }

    /// Registers a connection without a session. Beyond the limit the oldest one is closed.
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

/// Why there is no slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Full {
    #[error("sorry, too many clients already")]
    All,
    #[error("remaining connection slots are reserved for non-replication superuser connections")]
    Reserved,
}

/// A session's slot, freed on drop.
#[derive(Debug)]
pub(crate) struct Seat(Arc<ConnectionSlots>);

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.taken.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A connection without a session, unregistered on drop.
#[derive(Debug)]
pub(crate) struct Opening {
    seats: Arc<ConnectionSlots>,
    number: u64,
    goes: CancellationToken,
}

impl Opening {
    /// Completes when this connection must close to make room for a newer one.
    pub(crate) async fn evicted(&self) {
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
        let seats = Arc::new(ConnectionSlots::new(2, 0, 1));
        let first = seats.take(false).unwrap();
        let _second = seats.take(false).unwrap();
        assert_eq!(seats.take(false).unwrap_err(), Full::All);
        drop(first);
        assert!(seats.take(false).is_ok());
    }

    #[test]
    fn the_last_seats_are_the_operators() {
        let seats = Arc::new(ConnectionSlots::new(3, 1, 1));
        let (first, _second) = (seats.take(false).unwrap(), seats.take(false).unwrap());
        assert_eq!(seats.take(false).unwrap_err(), Full::Reserved);
        let _third = seats.take(true).unwrap();
        assert_eq!(seats.take(false).unwrap_err(), Full::All);
        assert_eq!(seats.take(true).unwrap_err(), Full::All);
        drop(first);
        // No particular slot is the operator's: one stays reserved whichever are taken.
        assert_eq!(seats.take(false).unwrap_err(), Full::Reserved);
    }

    #[test]
    fn the_oldest_silent_connection_makes_room() {
        let seats = Arc::new(ConnectionSlots::new(2, 0, 2));
        let (first, second) = (seats.start(), seats.start());
        drop(first);
        let third = seats.start();
        assert!(!second.goes.is_cancelled());
        let _fourth = seats.start();
        assert!(second.goes.is_cancelled() && !third.goes.is_cancelled());
        assert!(seats.take(false).is_ok(), "they take no session's seat");
    }
}
