//! Watches whether threads make progress: each is given a task, and is stuck if it does not run it soon.

use crate::error::{EngineResult, Fault, fail};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;

/// A thread that runs no new task for this long keeps clients waiting.
const SOON: Duration = Duration::from_secs(2);

/// The watched threads of front ends.
#[derive(Debug, Default)]
pub(crate) struct WatchedThreads {
    /// By number. Locked for one look-up or change.
    all: Mutex<BTreeMap<u64, (String, Handle)>>,
}

/// Keeps threads watched until it is dropped.
#[derive(Debug)]
pub struct Watched {
    number: u64,
    of: Arc<WatchedThreads>,
}

impl WatchedThreads {
    pub(crate) fn add(self: &Arc<Self>, name: String, handle: Handle) -> Watched {
        let mut all = self.all.lock();
        let number = all.last_key_value().map_or(0, |(last, _)| last + 1);
        all.insert(number, (name, handle));
        Watched { number, of: Arc::clone(self) }
    }

    /// Checks that all watched threads make progress.
    ///
    /// # Errors
    /// 57P03 with the name of a thread that does not.
    pub(crate) async fn progress(&self) -> EngineResult<()> {
        let all: Vec<(String, Handle)> = self.all.lock().values().cloned().collect();
        let asked = all.iter().map(|(name, handle)| progress(name, handle));
        futures::future::try_join_all(asked).await.map(drop)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.of.all.lock().remove(&self.number);
    }
}

/// Checks that the threads of a runtime make progress.
///
/// # Errors
/// 57P03.
pub(crate) async fn progress(name: &str, handle: &Handle) -> EngineResult<()> {
    // A join error means that the runtime has ended meanwhile.
    in_time(name, handle.spawn(async {})).await.map(drop)
}

/// Waits for `work` of the thread called `name`.
///
/// # Errors
/// 57P03 if it takes too long.
pub(crate) async fn in_time<T>(name: &str, work: impl Future<Output = T>) -> EngineResult<T> {
    match tokio::time::timeout(SOON, work).await {
        Ok(done) => Ok(done),
        Err(_) => fail(Fault::NoProgress { what: name.to_string(), seconds: SOON.as_secs() }),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[tokio::test]
    async fn a_thread_that_computes_without_end_is_named() {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let busy = builder.worker_threads(1).build().unwrap();
        let threads = Arc::new(WatchedThreads::default());
        let watched = threads.add("connection thread 7".to_string(), busy.handle().clone());
        threads.progress().await.unwrap();
        let (end, wait) = mpsc::channel::<()>();
        busy.spawn(async move { wait.recv() });
        let error = threads.progress().await.unwrap_err();
        assert_eq!((error.code(), error.message()), ("57P03", "connection thread 7 has not made progress for 2 s"));
        drop(end);
        threads.progress().await.unwrap();
        drop(watched);
        busy.shutdown_background();
        threads.progress().await.unwrap();
    }
}
