//! The simulation by the scheduler in `crates/sim`. fjall gets no threads; a task of the run does their work.

use sim::scheduler;

pub(crate) use scheduler::{Condvar, Instant, Mutex, MutexGuard, is_left_out};

/// A random choice.
pub(crate) fn chance() -> Option<bool> {
    Some(scheduler::random(2) == 0)
}

pub(crate) mod thread {
    use super::scheduler;

    pub(crate) use scheduler::{JoinHandle, sleep, yield_now};

    /// As in `real.rs`. The store's own threads may wait for work forever.
    pub(crate) fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> std::io::Result<JoinHandle> {
        scheduler::spawn(name, true, body)
    }

    /// As in `real.rs`, one after the other.
    pub(crate) fn both(mut first: impl FnMut(), second: impl FnOnce()) {
        first();
        second();
    }
}

pub(crate) mod task {
    use super::scheduler;
    use std::time::Duration;

    pub(crate) use scheduler::{JoinError, Work as JoinHandle, spawn_blocking};

    /// Every task of a run waits for one thing at a time, so it may block.
    pub(crate) async fn sleep(time: Duration) {
        scheduler::sleep(time);
    }
}

pub(crate) mod blocking {
    use super::scheduler::block_on;
    use tokio::sync::{RwLock, RwLockWriteGuard, mpsc};

    /// As in `real.rs`.
    pub(crate) fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
        match block_on(lock.write()) {
            Some(guard) => guard,
            None => lock.blocking_write(),
        }
    }

    /// As in `real.rs`.
    pub(crate) fn receive<T>(receiver: &mut mpsc::Receiver<T>) -> Option<T> {
        block_on(receiver.recv())?
    }
}

pub(crate) mod files {
    use super::scheduler::point;
    use std::fs::File;
    use std::io;

    /// As in `real.rs`. Other tasks may run before and after the sync.
    #[track_caller]
    pub(crate) fn sync_data(file: &File) -> io::Result<()> {
        point("sync");
        let outcome = file.sync_data();
        point("synced");
        outcome
    }

    /// As [`sync_data`].
    #[track_caller]
    pub(crate) fn sync_all(file: &File) -> io::Result<()> {
        point("sync");
        let outcome = file.sync_all();
        point("synced");
        outcome
    }
}

pub(crate) mod engine_threads {
    use super::Mutex;
    use super::scheduler::{point, random};
    use super::thread::{self, JoinHandle};
    use crate::error::{engine, io, storage};
    use crate::housekeeping::Stop;
    use crate::inner::Inner;
    use crate::memtables::flush::all_keyspaces;
    use fjall::{AbstractTree, Database, DatabaseBuilder, Keyspace, PersistMode};
    use std::sync::Arc;
    use std::time::Duration;
    use store::StoreResult;

    /// fjall makes writers sleep at 4 sealed memtables without yielding to the scheduler, so memtables are flushed
    /// before that.
    const MOST_SEALED: usize = 3;

    /// The task that replaces fjall's threads does not begin journals.
    pub(crate) const BEGIN_JOURNALS: bool = false;

    /// Sets the number of fjall's threads to 0.
    pub(crate) fn count(builder: DatabaseBuilder<Database>, _: usize) -> DatabaseBuilder<Database> {
        builder.worker_threads_unchecked(0)
    }

    /// Starts the task that replaces fjall's threads.
    pub(crate) fn start(inner: &Arc<Inner>, stop: &Arc<Stop>) -> StoreResult<Option<JoinHandle>> {
        let (inner, stop) = (inner.clone(), stop.clone());
        let body = move || {
            while !stop.wait(Duration::from_micros(random(30_000))) {
                let sealed = std::mem::take(&mut *inner.sealed.0.lock());
                for keyspace in sealed.into_iter().chain(all_keyspaces(&inner)) {
                    if let Err(error) = work(&inner.pipeline.db, &keyspace) {
                        inner.pipeline.read_only.set(&error);
                    }
                }
            }
        };
        thread::spawn("fjall", body).map(Some).map_err(io("starting a thread"))
    }

    /// As `worker_tick` of fjall 3.1.13: syncs the journal and flushes sealed memtables.
    fn work(db: &Database, keyspace: &Keyspace) -> StoreResult<()> {
        if keyspace.sealed_memtable_count() > 0 {
            point("flush");
            flush(db, keyspace)?;
        }
        Ok(())
    }

    fn flush(db: &Database, keyspace: &Keyspace) -> StoreResult<()> {
        db.persist(PersistMode::SyncAll).map_err(engine("syncing the journal"))?;
        point("flush what is sealed");
        let lock = keyspace.tree.get_flush_lock();
        let oldest = db.supervisor.snapshot_tracker.get_seqno_safe_to_gc();
        keyspace.tree.flush(&lock, oldest).map(drop).map_err(|error| storage("flushing")(&error))
    }

    /// Keyspaces with sealed memtables. Their tables may have been dropped.
    #[derive(Default)]
    pub(crate) struct Sealed(Mutex<Vec<Keyspace>>);

    impl Sealed {
        /// Adds a keyspace. Flushes at once if too many memtables are sealed.
        pub(crate) fn add(&self, db: &Database, keyspace: &Keyspace) -> StoreResult<()> {
            self.0.lock().push(keyspace.clone());
            match keyspace.sealed_memtable_count() >= MOST_SEALED {
                true => flush(db, keyspace),
                false => Ok(()),
            }
        }
    }

    /// fjall counts only the requests to its own threads.
    pub(crate) fn outstanding_flushes(_: &Database) -> usize {
        0
    }
}
