//! The real implementation, without overhead.

pub(crate) use parking_lot::{Condvar, Mutex, MutexGuard};
pub(crate) use std::time::Instant;

/// A random choice of the simulation; `None` here.
pub(crate) const fn chance() -> Option<bool> {
    None
}

/// Whether a simulation disables a part to test that the error is found.
pub(crate) const fn is_left_out(_: &'static str) -> bool {
    false
}

/// The store's own threads.
pub(crate) mod thread {
    pub(crate) use std::thread::{sleep, yield_now};

    pub(crate) type JoinHandle = std::thread::JoinHandle<()>;

    /// Starts a thread.
    ///
    /// # Errors
    /// The operating system refuses more threads.
    pub(crate) fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> std::io::Result<JoinHandle> {
        std::thread::Builder::new().name(name.to_owned()).spawn(body)
    }

    /// Computes both, the first one on a thread of its own if the system has one to spare.
    pub(crate) fn both(mut first: impl FnMut() + Send, second: impl FnOnce()) {
        let is_begun = std::thread::scope(|scope| {
            let begun = std::thread::Builder::new().spawn_scoped(scope, &mut first);
            second();
            begun.is_ok()
        });
        if !is_begun {
            first();
        }
    }
}

/// Tasks of the runtime.
pub(crate) mod task {
    pub(crate) use tokio::task::{JoinError, JoinHandle, spawn_blocking};
    pub(crate) use tokio::time::sleep;
}

/// Blocks a thread on async operations.
pub(crate) mod blocking {
    use tokio::sync::{RwLock, RwLockWriteGuard, mpsc};

    /// Locks exclusively.
    pub(crate) fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
        lock.blocking_write()
    }

    /// Receives the next message; `None` at the end.
    pub(crate) fn receive<T>(receiver: &mut mpsc::Receiver<T>) -> Option<T> {
        receiver.blocking_recv()
    }
}

/// File syncs.
pub(crate) mod files {
    use std::fs::File;
    use std::io;

    /// Makes written bytes durable.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn sync_data(file: &File) -> io::Result<()> {
        file.sync_data()
    }

    /// As [`sync_data`], including all metadata.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn sync_all(file: &File) -> io::Result<()> {
        file.sync_all()
    }
}

/// fjall's own threads, which flush and compact.
pub(crate) mod engine_threads {
    use crate::housekeeping::Stop;
    use crate::inner::Inner;
    use fjall::{Database, DatabaseBuilder, Keyspace};
    use std::sync::Arc;
    use store::StoreResult;

    /// Whether these threads begin a journal when the last one is full.
    pub(crate) const BEGIN_JOURNALS: bool = true;

    /// Sets the number of fjall's threads.
    pub(crate) fn count(builder: DatabaseBuilder<Database>, threads: usize) -> DatabaseBuilder<Database> {
        builder.worker_threads(threads.max(1))
    }

    /// Starts replacements of fjall's threads. Nothing here: fjall starts its threads itself.
    ///
    /// # Errors
    /// None.
    pub(crate) fn start(_: &Arc<Inner>, _: &Arc<Stop>) -> StoreResult<Option<super::thread::JoinHandle>> {
        Ok(None)
    }

    /// Keyspaces with sealed memtables. Empty here: fjall tracks them.
    #[derive(Default)]
    pub(crate) struct Sealed {}

    impl Sealed {
        /// Adds a keyspace.
        ///
        /// # Errors
        /// None.
        pub(crate) fn add(&self, _: &Database, _: &Keyspace) -> StoreResult<()> {
            Ok(())
        }
    }

    /// Number of flushes that wait for fjall's threads.
    pub(crate) fn outstanding_flushes(db: &Database) -> usize {
        db.outstanding_flushes()
    }
}
