//! The threads that run queries, apart from those that serve connections: a long scan never stalls them.

use crate::error::{EngineResult, Fault};
use query::QueryError;
use std::future::Future;
use tokio::runtime::{Builder, Runtime};
use tokio_util::task::AbortOnDropHandle;

/// The query threads.
#[derive(Debug)]
pub(crate) struct QueryRuntime {
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
}

impl QueryRuntime {
    /// Starts them; 0 is as many as cores.
    pub(crate) fn start(threads: usize) -> EngineResult<Self> {
        let mut builder = Builder::new_multi_thread();
        if threads > 0 {
            builder.worker_threads(threads);
        }
        // Plans recurse: a deep one must not overflow.
        let built = builder.thread_name("bennu-query").thread_stack_size(8 << 20).enable_all().build();
        let runtime = built.map_err(|error| Fault::Internal { detail: format!("query threads: {error}") })?;
        Ok(Self { runtime: Some(runtime) })
    }

    /// Runs `work` on them; it stops when the handle is dropped.
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> EngineResult<AbortOnDropHandle<T>> {
        match &self.runtime {
            Some(runtime) => Ok(AbortOnDropHandle::new(runtime.spawn(work))),
            None => Err(Fault::ShuttingDown.into()),
        }
    }

    /// Runs `work` on them and waits for it.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = EngineResult<T>> + Send + 'static,
    ) -> EngineResult<T> {
        match self.spawn(work)?.await {
            Ok(done) => done,
            Err(error) => Err(QueryError::unexpected(&error.to_string()).into()),
        }
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
