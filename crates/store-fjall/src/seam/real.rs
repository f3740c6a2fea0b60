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

/// What flushes and compacts: a thread of the store's own, and one of fjall's.
pub(crate) mod engine_threads {
    use super::{Condvar, Mutex};
    use crate::error::io;
    use crate::flush;
    use crate::housekeeping::Stop;
    use crate::inner::Inner;
    use fjall::{Database, DatabaseBuilder, Keyspace};
    use std::sync::Arc;
    use std::time::Duration;
    use store::StoreResult;

    /// How often the thread that flushes looks whether the store ends.
    const LOOK: Duration = Duration::from_millis(20);

    /// Lets fjall have one, which compacts. Of two (fjall 3.1.13, `worker_pool.rs`) the first takes requests for a compaction
    /// out of the queue and puts them back, without a pause for as long as the other compacts. With one, flushes would wait
    /// for compactions: they are done by a thread of the store's own.
    pub(crate) fn count(builder: DatabaseBuilder<Database>) -> DatabaseBuilder<Database> {
        builder.worker_threads(1)
    }

    /// Starts the thread that flushes.
    ///
    /// # Errors
    /// The operating system has no more threads.
    pub(crate) fn start(inner: &Arc<Inner>, stop: &Arc<Stop>) -> StoreResult<Option<super::thread::JoinHandle>> {
        let (inner, stop) = (inner.clone(), stop.clone());
        let body = move || {
            while !stop.wait(Duration::ZERO) {
                inner.sealed.take_each(|keyspace| {
                    if let Err(error) = flush::sealed(&inner.pipeline.db, keyspace, || {}) {
                        inner.pipeline.read_only.set(&error);
                    }
                });
            }
        };
        super::thread::spawn("bennu-flush", body).map(Some).map_err(io("starting a thread"))
    }

    /// Keyspaces whose memtables were sealed, for the thread that flushes.
    #[derive(Default)]
    pub(crate) struct Sealed {
        /// A short mutex, paired with `added`.
        waiting: Mutex<Vec<Keyspace>>,
        added: Condvar,
    }

    impl Sealed {
        /// Adds one.
        ///
        /// # Errors
        /// None.
        pub(crate) fn add(&self, _: &Database, keyspace: &Keyspace) -> StoreResult<()> {
            self.waiting.lock().push(keyspace.clone());
            self.added.notify_one();
            Ok(())
        }

        /// Waits a moment for some, and hands each to `flush`.
        fn take_each(&self, flush: impl Fn(&Keyspace)) {
            let mut waiting = self.waiting.lock();
            if waiting.is_empty() {
                self.added.wait_for(&mut waiting, LOOK);
            }
            let taken = std::mem::take(&mut *waiting);
            drop(waiting);
            taken.iter().for_each(flush);
        }
    }
}
