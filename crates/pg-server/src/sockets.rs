//! Sockets of clients, so many that files are left for all else: tables, journals and spilled rows need descriptors too,
//! and a store that cannot open its files takes no writes.
//!
//! ```text
//!   0 ........ for clients ........ | being refused | the store's, and what else is open ... limit of open files
//! ```

use rlimit::{Resource, getrlimit, increase_nofile_limit};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Descriptors that are kept for other things than clients, or half of them if there are few.
const OWN: u64 = 2_000;
/// The usual limit of open files.
const USUAL: u64 = 1_024;
/// Sockets that may wait for their refusal at a time. Others are closed without a word.
const REFUSED: usize = 16;

/// Lets this process open as many files as it may: the limit that usually holds (1,024) is for programs that use
/// `select(2)`. Returns what it may open now.
///
/// # Errors
/// When the system refuses it; the old limit holds then.
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
    /// At most so many, or what the limit of open files leaves: 0.
    pub(crate) fn new(most: usize) -> Self {
        // Where the system does not tell its limit, the usual one.
        let limit = || getrlimit(Resource::NOFILE).map_or(USUAL, |(current, _)| current);
        let most = if most == 0 { left_for_clients(limit()) } else { most };
        Self { open: AtomicUsize::new(0), most }
    }

    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// One more; `None`: it has to be closed at once.
    pub(crate) fn take(self: &Arc<Self>) -> Option<Socket> {
        let room = self.most.saturating_add(REFUSED);
        let one_more = |open: usize| (open < room).then_some(open + 1);
        let before = self.open.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).ok()?;
        Some(Socket { all: Arc::clone(self), is_refused: before >= self.most })
    }
}

fn left_for_clients(limit: u64) -> usize {
    usize::try_from(limit - OWN.min(limit / 2)).unwrap_or(usize::MAX)
}

/// A client's socket, counted until this is dropped.
#[derive(Debug)]
pub(crate) struct Socket {
    all: Arc<Sockets>,
    /// Is there no room for it?
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
        assert_eq!(left_for_clients(1_024), 512);
        assert_eq!(left_for_clients(20_000), 18_000);
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
