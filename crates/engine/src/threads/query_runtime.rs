//! The threads that run queries, apart from those that serve connections.
//!
//! There are as many as a query has tasks, because each holds memory beyond what queries reserve. A computation that
//! takes long within one call gets a thread of its own (`turn.rs`), and the others continue.

use crate::error::{EngineResult, Fault};
use crate::threads::{priority, turn};
use query::QueryError;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinError;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::AbortOnDropHandle;
use types::interrupt::{Host, Interrupted};

/// Planning recurses, and a deep plan must not overflow the stack. Only touched pages cost memory.
const STACK: usize = 16 << 20;

/// A runtime for connections, with one thread. Long computations move the other tasks to another thread; there are at
/// most `most` such threads.
///
/// # Errors
/// Fails if the system provides no thread.
pub fn connection_runtime(name: &str, most: usize) -> io::Result<Runtime> {
    exchangeable(name, 1, || turn::starts_thread(turn::CONNECTION_TURN)).max_blocking_threads(most.max(1)).build()
}

fn exchangeable(name: &str, threads: usize, starts: impl Fn() + Send + Sync + 'static) -> Builder {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(threads).thread_name(name).thread_stack_size(STACK).thread_keep_alive(IDLE);
    builder.on_thread_start(starts).enable_all();
    builder
}

/// An idle thread ends after this time, because its allocator keeps memory that other threads could use.
const IDLE: Duration = Duration::from_millis(500);

/// Maximum number of query threads that compute apart. Each holds the rows of a batch and its allocator's cache
/// beyond the memory that queries reserve.
const MOST_APART: usize = 8;

/// The query threads.
#[derive(Debug)]
pub(crate) struct QueryRuntime {
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
}

/// Work on the query threads. Dropping it stops the work: at once if it waits, else at its next interrupt check.
#[derive(Debug)]
pub(crate) struct Spawned<T> {
    task: AbortOnDropHandle<T>,
    _wanted: DropGuard,
}

impl<T> Future for Spawned<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.task).poll(cx)
    }
}

/// The host of spawned work, which stops the work when its handle is dropped.
#[derive(Debug)]
struct Wanted {
    host: Option<Arc<dyn Host>>,
    dropped: CancellationToken,
}

impl Host for Wanted {
    fn go_on(&self) -> Result<(), Interrupted> {
        if self.dropped.is_cancelled() {
            return Err(Interrupted);
        }
        match &self.host {
            Some(host) => host.go_on(),
            None => {
                turn::give_way();
                Ok(())
            }
        }
    }

    fn before_long_step(&self) -> Result<(), Interrupted> {
        self.go_on()?;
        turn::leave();
        Ok(())
    }

    fn pause(&self) -> Result<bool, Interrupted> {
        if self.dropped.is_cancelled() {
            return Err(Interrupted);
        }
        self.host.as_ref().map_or_else(|| Ok(turn::is_over()), |host| host.pause())
    }
}

impl QueryRuntime {
    /// Starts query threads for queries of this many tasks.
    pub(crate) fn start(tasks: usize) -> EngineResult<Self> {
        turn::pass_on();
        let starts = || {
            turn::starts_thread(turn::QUERY_TURN);
            priority::lower();
        };
        let built = exchangeable("bennu-query", tasks, starts).max_blocking_threads(MOST_APART).build();
        let runtime = built.map_err(|error| Fault::Internal { detail: format!("query threads: {error}") })?;
        Ok(Self { runtime: Some(runtime) })
    }

    /// Spawns `work` on the query threads for `host`.
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        host: Option<Arc<dyn Host>>,
        work: impl Future<Output = T> + Send + 'static,
    ) -> EngineResult<Spawned<T>> {
        let Some(runtime) = &self.runtime else { return Err(Fault::ShuttingDown.into()) };
        let dropped = CancellationToken::new();
        let wanted: Arc<dyn Host> = Arc::new(Wanted { host, dropped: dropped.clone() });
        let task = runtime.spawn(async move { turn::watched(&wanted, work).await });
        Ok(Spawned { task: AbortOnDropHandle::new(task), _wanted: dropped.drop_guard() })
    }

    /// Runs `work` on the query threads and waits for it.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        host: Option<Arc<dyn Host>>,
        work: impl Future<Output = EngineResult<T>> + Send + 'static,
    ) -> EngineResult<T> {
        match self.spawn(host, work)?.await {
            Ok(done) => done,
            Err(error) => Err(QueryError::internal(error.to_string()).into()),
        }
    }

    /// The runtime's handle, to watch its progress.
    pub(crate) fn handle(&self) -> Option<Handle> {
        self.runtime.as_ref().map(|runtime| runtime.handle().clone())
    }
}

impl Drop for QueryRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // An engine may be dropped inside another runtime, where waiting is not allowed.
            runtime.shutdown_background();
        }
    }
}
