//! Rows on their way out.
//!
//! What waits for a client is held of the memory that queries share. When there is none left, a query still has one
//! chunk with its client and one on the way, and goes on when the client has taken the first: slow readers slow
//! themselves down, and nobody else has to fail for them.

use crate::error::EngineResult;
use crate::key_program::Cursor;
use crate::session::held::{hold_rows, size_of_chunk};
use crate::session::running::RunGuard;
use crate::threads::query_runtime::Spawned;
use crate::{Chunk, ColumnDesc, RowStream, Session};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use query::{HeldMemory, Plan, QueryContext, QueryError};
use std::sync::Arc;
use tokio::sync::mpsc;
use txn::ReadView;
use types::Datum;

/// Rows of a range program that are read on the caller's task.
const ROWS_HERE: usize = 2048;

/// Batches that wait between the query threads and the front end.
const WAITING: usize = 2;

/// Rows of a statement that can be changed one by one are held together up to this part of memory: the rest is for what is
/// written.
const PART_OF_ROWS: usize = 2;

/// Rows that are there already.
pub(crate) fn ready(columns: Arc<Vec<ColumnDesc>>, rows: Vec<Vec<Datum>>, tag: &'static str) -> RowStream {
    let chunk = (!rows.is_empty()).then_some(Ok(Chunk::Rows(rows)));
    RowStream { columns, chunks: Box::pin(stream::iter(chunk)), tag, counted: true }
}

impl RowStream {
    /// Are all rows there? Then the number of chunks is known, which it is not while query threads make them.
    pub(crate) fn is_computed(&self) -> bool {
        self.chunks.size_hint().1.is_some()
    }

    /// The same rows, with the memory that they take until the last of them is sent.
    pub(crate) fn holding(self, memory: Option<HeldMemory>) -> Self {
        let kept = move |chunk| {
            let _ = &memory;
            chunk
        };
        Self { chunks: Box::pin(self.chunks.map(kept)), ..self }
    }
}

/// Rows of a statement whose tag counts none: SHOW, EXPLAIN.
pub(crate) fn uncounted(columns: Arc<Vec<ColumnDesc>>, rows: Vec<Vec<Datum>>, tag: &'static str) -> RowStream {
    RowStream { counted: false, ..ready(columns, rows, tag) }
}

/// What the query threads send.
enum Message {
    /// With the memory that it takes.
    Chunk(Chunk, HeldMemory),
    /// All was sent: without it the task died.
    End(EngineResult<()>),
}

impl Session {
    /// Starts a planned query on the query threads.
    pub(crate) fn start_query(
        &mut self,
        plan: &Arc<Plan>,
        view: ReadView,
        params: &[Datum],
    ) -> EngineResult<RowStream> {
        let columns = Arc::new(crate::statement::plan_cache::columns_of(plan));
        let context = self.stale_context(view);
        let chunks = self.stream(context, Arc::clone(plan), params.to_vec())?;
        Ok(RowStream { columns, chunks, tag: "SELECT", counted: true })
    }

    /// Batches of a plan, made on the query threads while they are taken.
    pub(crate) fn stream(
        &self,
        context: QueryContext,
        plan: Arc<Plan>,
        params: Vec<Datum>,
    ) -> EngineResult<BoxStream<'static, EngineResult<Chunk>>> {
        let planner = Arc::clone(self.engine.planner());
        self.spawned(self.running(), |chunks| async move {
            let mut execution = planner.execute(&context, &plan, &params).await?;
            // What reads a table has the state that it reads; what reads none keeps none alive.
            drop(context);
            while let Some(batch) = execution.stream.next().await {
                let batch = batch.map_err(QueryError::from)?;
                if batch.num_rows() > 0 && !chunks.send(Chunk::Batch(batch)).await {
                    break;
                }
            }
            Ok(())
        })
    }

    /// Chunks that `work` sends on the query threads while they are taken.
    fn spawned<W: Future<Output = EngineResult<()>> + Send + 'static>(
        &self,
        guard: Arc<RunGuard>,
        work: impl FnOnce(ChunkSender) -> W,
    ) -> EngineResult<BoxStream<'static, EngineResult<Chunk>>> {
        let (sender, receiver) = mpsc::channel(WAITING);
        let work = work(ChunkSender { sender: sender.clone(), memory: self.engine.hold("an answer") });
        let task = self.engine.runtime().spawn(Some(guard.host()), async move {
            let done = guard.stoppable(work).await;
            // Fails only when nobody listens.
            drop(sender.send(Message::End(done)).await);
        })?;
        Ok(Box::pin(stream::unfold(Some((receiver, task, None)), next_chunk)))
    }

    /// Rows of a range program. The first ones are read here and now, and mostly they are all; the others on
    /// the query threads.
    pub(crate) async fn read_range(
        &mut self,
        mut cursor: Cursor,
        columns: Arc<Vec<ColumnDesc>>,
        guard: Arc<RunGuard>,
    ) -> EngineResult<RowStream> {
        let mut first = guard.stoppable(cursor.next_chunk()).await?;
        while first.len() < ROWS_HERE && !cursor.is_done() {
            first.append(guard.stoppable(cursor.next_chunk()).await?);
        }
        if cursor.is_done() {
            let chunk = (!first.is_empty()).then_some(Ok(Chunk::Stored(first)));
            return Ok(RowStream { columns, chunks: Box::pin(stream::iter(chunk)), tag: "SELECT", counted: true });
        }
        let rest = self.spawned(guard, |chunks| async move {
            while !cursor.is_done() {
                let rows = cursor.next_chunk().await?;
                if !rows.is_empty() && !chunks.send(Chunk::Stored(rows)).await {
                    break;
                }
            }
            Ok(())
        })?;
        let chunks = Box::pin(stream::iter([Ok(Chunk::Stored(first))]).chain(rest));
        Ok(RowStream { columns, chunks, tag: "SELECT", counted: true })
    }

    /// All rows of a plan as values, held by `memory`.
    ///
    /// # Errors
    /// 53200 for more than memory holds, and those of the plan.
    pub(crate) async fn collect(
        &self,
        context: QueryContext,
        plan: Arc<Plan>,
        params: Vec<Datum>,
        memory: Arc<HeldMemory>,
    ) -> EngineResult<Vec<Vec<Datum>>> {
        Ok(Box::pin(self.collect_held(context, plan, params, memory, usize::MAX)).await??)
    }

    /// As [`Self::collect`]; `None` where they take most of memory.
    ///
    /// # Errors
    /// Those of the plan.
    pub(crate) async fn collect_few(
        &self,
        context: QueryContext,
        plan: Arc<Plan>,
        params: Vec<Datum>,
        memory: Arc<HeldMemory>,
    ) -> EngineResult<Option<Vec<Vec<Datum>>>> {
        let most = self.engine.planner().memory_bytes() / PART_OF_ROWS;
        Ok(Box::pin(self.collect_held(context, plan, params, memory, most)).await?.ok())
    }

    /// All rows, or why memory does not hold them.
    async fn collect_held(
        &self,
        context: QueryContext,
        plan: Arc<Plan>,
        params: Vec<Datum>,
        memory: Arc<HeldMemory>,
        most: usize,
    ) -> EngineResult<Result<Vec<Vec<Datum>>, QueryError>> {
        let planner = Arc::clone(self.engine.planner());
        let guard: Arc<RunGuard> = self.running();
        self.engine
            .run_query(guard.host(), async move {
                let work = async {
                    let types: Vec<_> = plan.columns.iter().map(|column| column.ty).collect();
                    let mut execution = planner.execute(&context, &plan, &params).await?;
                    let mut rows = Vec::new();
                    while let Some(batch) = execution.stream.next().await {
                        let batch = batch.map_err(QueryError::from)?;
                        let more = query::convert::batch_to_rows(&batch, &types)?;
                        if let Err(full) = hold_rows(&memory, &more) {
                            return Ok(Err(full));
                        }
                        if memory.bytes() > most {
                            return Ok(Err(QueryError::Resources { detail: format!("{most} bytes of rows") }));
                        }
                        rows.extend(more);
                    }
                    Ok(Ok(rows))
                };
                guard.stoppable(work).await
            })
            .await
    }
}

/// What comes, from whom, and the memory of the chunk that the front end has.
type Source = (mpsc::Receiver<Message>, Spawned<()>, Option<HeldMemory>);

/// Where the query threads send chunks, and the memory that these are held of.
struct ChunkSender {
    sender: mpsc::Sender<Message>,
    memory: HeldMemory,
}

impl ChunkSender {
    /// False: nobody listens any more.
    async fn send(&self, chunk: Chunk) -> bool {
        let (held, bytes) = (self.memory.another(), size_of_chunk(&chunk));
        if held.try_grow(bytes).is_ok() {
            return self.sender.send(Message::Chunk(chunk, held)).await.is_ok();
        }
        // Nothing else waits then.
        let Ok(mut places) = self.sender.reserve_many(WAITING).await else { return false };
        held.grow(bytes);
        if let Some(place) = places.next() {
            place.send(Message::Chunk(chunk, held));
        }
        true
    }
}

async fn next_chunk(source: Option<Source>) -> Option<(EngineResult<Chunk>, Option<Source>)> {
    // The front end is done with the chunk before.
    let (mut receiver, task, _) = source?;
    match receiver.recv().await {
        Some(Message::Chunk(chunk, held)) => Some((Ok(chunk), Some((receiver, task, Some(held))))),
        Some(Message::End(Ok(()))) => None,
        Some(Message::End(Err(error))) => Some((Err(error), None)),
        None => {
            let detail = match task.await {
                Ok(()) => "a query ended without an end".to_string(),
                Err(error) => error.to_string(),
            };
            Some((Err(QueryError::internal(detail).into()), None))
        }
    }
}

impl crate::Answer {
    /// Reads all rows and says how many there were.
    pub(crate) async fn count(self) -> EngineResult<u64> {
        match self {
            Self::Rows(mut rows) => {
                let mut count = 0;
                while let Some(chunk) = rows.chunks.next().await {
                    count += chunk?.len() as u64;
                }
                Ok(count)
            }
            // The number at the end of a tag.
            Self::Done(tag) => Ok(tag.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0)),
            Self::Empty | Self::CopyIn(_) | Self::CopyOut(_) => Ok(0),
        }
    }
}
