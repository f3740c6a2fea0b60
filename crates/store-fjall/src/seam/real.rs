//! The machine's own: nothing here costs anything.

pub(crate) use parking_lot::{Condvar, Mutex, MutexGuard};
pub(crate) use std::time::Instant;

/// What a simulation chooses where the machine knows.
pub(crate) const fn chance() -> Option<bool> {
    None
}

/// Whether a simulation leaves a part out to see that this is found.
pub(crate) const fn is_left_out(_: &'static str) -> bool {
    false
}

/// Threads of the store's own.
pub(crate) mod thread {
    pub(crate) use std::thread::{sleep, yield_now};

    pub(crate) type JoinHandle = std::thread::JoinHandle<()>;

    /// Starts one.
    ///
    /// # Errors
    /// The operating system has no more.
    pub(crate) fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> std::io::Result<JoinHandle> {
        std::thread::Builder::new().name(name.to_owned()).spawn(body)
    }
}

/// Work of the runtime.
pub(crate) mod task {
    pub(crate) use tokio::task::{JoinError, JoinHandle, spawn_blocking};
    pub(crate) use tokio::time::sleep;
}

/// Waiting for async things on a thread that may block.
pub(crate) mod blocking {
    use tokio::sync::{RwLock, RwLockWriteGuard, mpsc};

    /// The lock, alone.
    pub(crate) fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
        lock.blocking_write()
    }

    /// The next message; `None` at the end.
    pub(crate) fn receive<T>(receiver: &mut mpsc::Receiver<T>) -> Option<T> {
        receiver.blocking_recv()
    }
}

/// Syncs.
pub(crate) mod files {
    use std::fs::File;
    use std::io;

    /// Makes what was written durable.
    ///
    /// # Errors
    /// Those of the call.
    pub(crate) fn sync_data(file: &File) -> io::Result<()> {
        file.sync_data()
    }

    /// As [`sync_data`], and all that the system knows of the file.
    ///
    /// # Errors
    /// Those of the call.
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

    /// Do they begin a journal when the last one is full?
    pub(crate) const BEGIN_JOURNALS: bool = true;

    /// Lets fjall have `threads` of them.
    pub(crate) fn count(builder: DatabaseBuilder<Database>, threads: usize) -> DatabaseBuilder<Database> {
        builder.worker_threads(threads.max(1))
    }

    /// What else must run for the store: fjall starts its threads itself.
    ///
    /// # Errors
    /// None.
    pub(crate) fn start(_: &Arc<Inner>, _: &Arc<Stop>) -> StoreResult<Option<super::thread::JoinHandle>> {
        Ok(None)
    }

    /// Keyspaces whose memtables were sealed: fjall's threads know.
    #[derive(Default)]
    pub(crate) struct Sealed {}

    impl Sealed {
        /// Adds one.
        ///
        /// # Errors
        /// None.
        pub(crate) fn add(&self, _: &Database, _: &Keyspace) -> StoreResult<()> {
            Ok(())
        }
    }

    /// How many flushes wait for them.
    pub(crate) fn outstanding_flushes(db: &Database) -> usize {
        db.outstanding_flushes()
    }
}
