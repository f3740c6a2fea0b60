//! Streams of result rows.
//!
//! Chunks that wait for a client are accounted for in the memory that queries share. When it is exhausted, a query
//! may still have one chunk at its client and one in transit, and continues when the client has taken the first: slow
//! readers delay themselves, and no other query fails because of them.

use crate::error::EngineResult;
use crate::key_program::Cursor;
use crate::session::held::{hold_rows, size_of_chunk};
use crate::session::running::RunGuard;
use crate::threads::query_runtime::Spawned;
use crate::{Chunk, ColumnDesc, RowStream, Session};
use arrow::array::RecordBatch;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use query::{HeldMemory, Plan, QueryContext, QueryError};
use std::sync::Arc;
use tokio::sync::mpsc;
use txn::ReadView;
use types::Datum;

/// Rows of a key range program that are read on the caller's task.
const ROWS_HERE: usize = 2048;

/// Rows that are sent without a check whether the statement is cancelled; more than a batch usually has.
const ROWS_OF_PIECE: usize = 16_384;

/// Capacity of the queue between the query threads and the front end, in batches.
const WAITING: usize = 2;

/// Rows that could be changed batch by batch are collected up to one part in this many of the memory: the rest is for
/// writes.
const PART_OF_ROWS: usize = 2;

/// A stream of rows that are already computed.
pub(crate) fn ready(columns: Arc<Vec<ColumnDesc>>, rows: Vec<Vec<Datum>>, tag: &'static str) -> RowStream {
    let chunk = (!rows.is_empty()).then_some(Ok(Chunk::Rows(rows)));
    RowStream { columns, chunks: Box::pin(stream::iter(chunk)), tag, counted: true }
}

/// Cuts a batch so that a cancelled or timed-out statement ends between two pieces: rows without columns of a table, such
/// as `SELECT 1 FROM t`, may come as one batch.
fn pieces(batch: &RecordBatch) -> impl Iterator<Item = RecordBatch> {
    let starts = (0..batch.num_rows()).step_by(ROWS_OF_PIECE);
    starts.map(|start| batch.slice(start, ROWS_OF_PIECE.min(batch.num_rows() - start)))
}

impl RowStream {
    /// Whether all rows are computed. Then the number of chunks is known, unlike while query threads produce them.
    pub(crate) fn is_computed(&self) -> bool {
        self.chunks.size_hint().1.is_some()
    }

    /// The same rows, which hold `memory` until the last of them is sent.
    pub(crate) fn holding(self, memory: Option<HeldMemory>) -> Self {
        let kept = move |chunk| {
            let _ = &memory;
            chunk
        };
        Self { chunks: Box::pin(self.chunks.map(kept)), ..self }
    }
}

/// Rows of a statement whose tag has no row count: SHOW, EXPLAIN.
pub(crate) fn uncounted(columns: Arc<Vec<ColumnDesc>>, rows: Vec<Vec<Datum>>, tag: &'static str) -> RowStream {
    RowStream { counted: false, ..ready(columns, rows, tag) }
}

/// A message from the query threads.
enum Message {
    /// A chunk, with the memory that it holds.
    Chunk(Chunk, HeldMemory),
    /// The end of the chunks. Without this message the task died.
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

    /// Batches of a plan, computed on the query threads while the caller reads them.
    pub(crate) fn stream(
        &self,
        context: QueryContext,
        plan: Arc<Plan>,
        params: Vec<Datum>,
    ) -> EngineResult<BoxStream<'static, EngineResult<Chunk>>> {
        let planner = Arc::clone(self.engine.planner());
        self.spawned(self.running(), |chunks| async move {
            let mut execution = planner.execute(&context, &plan, &params).await?;
            // Table scans hold the snapshot that they read. A query without scans need not hold one.
            drop(context);
            while let Some(batch) = execution.stream.next().await {
                for piece in pieces(&batch.map_err(QueryError::from)?) {
                    if !chunks.send(Chunk::Batch(piece)).await {
                        return Ok(());
                    }
                }
            }
            Ok(())
        })
    }

    /// Chunks that `work` sends from the query threads while the caller reads them.
    fn spawned<W: Future<Output = EngineResult<()>> + Send + 'static>(
        &self,
        guard: Arc<RunGuard>,
        work: impl FnOnce(ChunkSender) -> W,
    ) -> EngineResult<BoxStream<'static, EngineResult<Chunk>>> {
        let (sender, receiver) = mpsc::channel(WAITING);
        let work = work(ChunkSender { sender: sender.clone(), memory: self.engine.hold("an answer") });
        let task = self.engine.runtime().spawn(Some(guard.host()), async move {
            let done = guard.stoppable(work).await;
            // Fails only if the receiver is dropped.
            drop(sender.send(Message::End(done)).await);
        })?;
        Ok(Box::pin(stream::unfold(Some((receiver, task, None)), next_chunk)))
    }

    /// Rows of a key range program. The first rows, usually all of them, are read on the caller's task; the others on
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

    /// All rows of a plan as values, accounted for in `memory`.
    ///
    /// # Errors
    /// 53200 if they do not fit in memory; errors of the plan.
    pub(crate) async fn collect(
        &self,
        context: QueryContext,
        plan: Arc<Plan>,
        params: Vec<Datum>,
        memory: Arc<HeldMemory>,
    ) -> EngineResult<Vec<Vec<Datum>>> {
        Ok(Box::pin(self.collect_held(context, plan, params, memory, usize::MAX)).await??)
    }

    /// As [`Self::collect`]; `None` if the rows take too large a part of memory.
    ///
    /// # Errors
    /// Errors of the plan.
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

    /// All rows, or the reason why they do not fit in memory.
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

/// The receiver, the task that sends, and the memory of the chunk that the front end holds.
type Source = (mpsc::Receiver<Message>, Spawned<()>, Option<HeldMemory>);

/// Sends chunks from the query threads, and accounts for their memory.
struct ChunkSender {
    sender: mpsc::Sender<Message>,
    memory: HeldMemory,
}

impl ChunkSender {
    /// Returns false if the receiver is dropped.
    async fn send(&self, chunk: Chunk) -> bool {
        let (held, bytes) = (self.memory.another(), size_of_chunk(&chunk));
        if held.try_grow(bytes).is_ok() {
            return self.sender.send(Message::Chunk(chunk, held)).await.is_ok();
        }
        // Waits until the queue is empty.
        let Ok(mut places) = self.sender.reserve_many(WAITING).await else { return false };
        held.grow(bytes);
        if let Some(place) = places.next() {
            place.send(Message::Chunk(chunk, held));
        }
        true
    }
}

async fn next_chunk(source: Option<Source>) -> Option<(EngineResult<Chunk>, Option<Source>)> {
    // The front end is done with the previous chunk, so its memory is released.
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
    /// Reads all rows and returns their number.
    pub(crate) async fn count(self) -> EngineResult<u64> {
        match self {
            Self::Rows(mut rows) => {
                let mut count = 0;
                while let Some(chunk) = rows.chunks.next().await {
                    count += chunk?.len() as u64;
                }
                Ok(count)
            }
            // The row count at the end of the tag.
            Self::Done(tag) => Ok(tag.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0)),
            Self::Empty | Self::CopyIn(_) | Self::CopyOut(_) => Ok(0),
        }
    }
}
