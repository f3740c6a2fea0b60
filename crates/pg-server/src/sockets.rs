//! Limits client sockets so that file descriptors remain for tables, journals and spill files: a store that cannot open
//! its files accepts no writes.
//!
//! ```text
//!   0 ........ clients ........ | being refused | the store and other open files ........ limit of open files
//! ```

use rlimit::{Resource, getrlimit, increase_nofile_limit};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Descriptors reserved for everything but clients, or half of the limit if that is less.
const OWN: u64 = 2_000;
/// Limit of open files that is assumed when the system does not report it.
const USUAL: u64 = 1_024;
/// Most sockets at a time that wait for their error message. Further ones are closed without one.
const REFUSED: usize = 16;

/// Raises the soft limit of open files to the hard limit: the usual soft limit, 1,024, is meant for programs that use
/// `select(2)`. Returns the new limit.
///
/// # Errors
/// When the system refuses; the old limit then holds.
pub fn raise_file_limit() -> io::Result<u64> {
    increase_nofile_limit(u64::MAX)
}

/// The sockets of a server's clients.
#[derive(Debug)]
pub(crate) struct Sockets {
    open: AtomicUsize,
    most: usize,
}

impl Sockets {
    /// Allows `most` sockets; 0 derives the number from the limit of open files.
    pub(crate) fn new(most: usize) -> Self {
        // If the system does not report its limit, `USUAL` is assumed.
        let limit = || getrlimit(Resource::NOFILE).map_or(USUAL, |(current, _)| current);
        let most = if most == 0 { client_socket_limit(limit()) } else { most };
        Self { open: AtomicUsize::new(0), most }
    }

    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// Counts one more socket. `None` if it must be closed at once.
    pub(crate) fn take(self: &Arc<Self>) -> Option<Socket> {
        let room = self.most.saturating_add(REFUSED);
        let one_more = |open: usize| (open < room).then_some(open + 1);
        let before = self.open.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).ok()?;
        Some(Socket { all: Arc::clone(self), is_refused: before >= self.most })
    }
}

fn client_socket_limit(limit: u64) -> usize {
    usize::try_from(limit - OWN.min(limit / 2)).unwrap_or(usize::MAX)
}

/// A client's socket, counted until this is dropped.
#[derive(Debug)]
pub(crate) struct Socket {
    all: Arc<Sockets>,
    /// Whether the socket is over the limit and only gets an error message.
    pub(crate) is_refused: bool,
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.all.open.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_store_keeps_half_of_few_files_and_its_share_of_many() {
        assert_eq!(client_socket_limit(1_024), 512);
        assert_eq!(client_socket_limit(20_000), 18_000);
    }

    #[test]
    fn sockets_beyond_the_limit_are_refused_and_then_closed() {
        let sockets = Arc::new(Sockets::new(2));
        let mut open: Vec<Socket> = (0..2 + REFUSED).map(|_| sockets.take().unwrap()).collect();
        assert_eq!(open.iter().filter(|socket| socket.is_refused).count(), REFUSED);
        assert!(sockets.take().is_none());
        open.clear();
        assert!(!sockets.take().unwrap().is_refused);
    }
}
