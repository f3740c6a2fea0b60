//! Backfill: adds the entries of rows that were last written before writers maintained the index.
//!
//! ```text
//!   pieces of the table, by its regions ──> workers ──> batches:  keys ──lock──> newest rows ──> entries ──commit
//!                                               └──> position, saved periodically
//! ```
//! A batch locks its rows in SHARE mode, reads their newest state and writes their entries in one commit. A row that
//! a writer holds is skipped and processed afterwards, alone, so that the backfill never waits for a lock while it
//! holds others. Rows inserted behind a batch come from writers that maintain the index.

mod batch;
mod progress;

use super::BuildSpec;
use super::position::{Left, Position};
use crate::Engine;
use crate::dml::FAMILY;
use crate::error::EngineResult;
use crate::jobs::job::{JobContext, JobHost};
use batch::Batch;
use catalog::{Index, JobCounts, Table};
use parking_lot::Mutex;
use progress::Pace;
use query::QueryError;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use store::{CommitNo, Durability, KeyRange, TableSize, WriteBatch};
use tokio::time::Instant;

/// Maximum number of workers of one build; there is one for every two cores.
const MOST_WORKERS: usize = 4;
/// Number of pieces per worker into which a table is split, so that the workers end at about the same time.
const PIECES: usize = 4;
/// A backfill in progress.
struct Backfill {
    context: JobContext,
    table: Arc<Table>,
    spec: BuildSpec,
    entries: u32,
    /// The last commit when all writers had begun to maintain the index. Earlier writers have committed, but may not
    /// be published yet.
    seen: CommitNo,
    /// The remaining ranges, in the order of the pieces. Locked for one look-up or change.
    left: Mutex<Vec<Piece>>,
    /// When the position was last saved. Locked like `left`.
    kept: Mutex<Instant>,
    began: Instant,
    rows: AtomicU64,
    bytes: AtomicU64,
    before: JobCounts,
}

#[derive(Clone, Debug)]
struct Piece {
    left: KeyRange,
    taken: bool,
}

/// Writes the entries of all rows and returns the final position. `None`: the table or the index has other storage
/// than at the start.
pub(super) async fn run(
    context: &JobContext,
    spec: &BuildSpec,
    table: &Arc<Table>,
    index: &Index,
) -> EngineResult<Option<Position>> {
    let engine = context.engine()?;
    let seen = engine.store().apply(WriteBatch::default(), Durability::Buffered).await?;
    let (ranges, before) = start(context, &engine, table, index).await?;
    let pieces = ranges.into_iter().map(|left| Piece { left, taken: false }).collect();
    let backfill = Arc::new(Backfill {
        context: context.clone(),
        table: Arc::clone(table),
        spec: spec.clone(),
        entries: index.storage,
        seen,
        left: Mutex::new(pieces),
        kept: Mutex::new(Instant::now()),
        began: Instant::now(),
        rows: AtomicU64::new(0),
        bytes: AtomicU64::new(0),
        before,
    });
    let worker = || {
        let backfill = Arc::clone(&backfill);
        let host = Arc::new(JobHost(Arc::clone(context.job())));
        engine.runtime().spawn(Some(host), async move { backfill.work().await })
    };
    let workers = (0..workers()).map(|_| worker()).collect::<EngineResult<Vec<_>>>()?;
    drop(engine);
    for done in futures::future::join_all(workers).await {
        match done {
            Ok(done) => done?,
            Err(error) => return Err(QueryError::internal(error.to_string()).into()),
        }
    }
    backfill.keep().await?;
    Ok(backfill.is_of_now()?.then(|| backfill.position()))
}

fn workers() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    (cores / 2).clamp(1, MOST_WORKERS)
}

/// The ranges that an earlier run left, or the whole table in pieces.
async fn start(
    context: &JobContext,
    engine: &Engine,
    table: &Table,
    index: &Index,
) -> EngineResult<(Vec<KeyRange>, JobCounts)> {
    let position: Option<Position> = context.position()?;
    if let Some(position) = position.filter(|it| (it.rows, it.entries) == (table.storage, index.storage)) {
        let ranges: Option<Vec<KeyRange>> = position.left.iter().map(Left::range).collect();
        if let Some(ranges) = ranges {
            return Ok((ranges, context.job().record().counts));
        }
    }
    let (storage, all) = (table.storage_id(), [KeyRange::all()]);
    let size: TableSize = engine.store().estimate(storage, FAMILY, &all).await?;
    let regions = engine.store().regions(storage).await?.len();
    let pieces = engine.store().split(storage, FAMILY, &all, regions.max(workers() * PIECES)).await?;
    let counts = JobCounts { rows_total: size.rows, bytes_total: size.bytes, ..JobCounts::default() };
    context.save(Durability::Buffered, |record| record.counts = counts).await?;
    Ok((pieces.into_iter().flatten().collect(), counts))
}

impl Backfill {
    /// Processes pieces until none is left.
    async fn work(&self) -> EngineResult<()> {
        let (mut codecs, mut pace) = (None, Pace::default());
        while let Some(at) = self.take() {
            while let Some(range) = self.range(at) {
                self.context.check()?;
                let began = Instant::now();
                let done = self.batch(&range, &mut codecs).await?;
                let Some(done) = done else { return Ok(()) };
                self.set(at, range, done);
                self.keep_now_and_then().await?;
                self.give_way(&mut pace, began.elapsed()).await?;
                self.throttle().await?;
            }
        }
        Ok(())
    }

    fn take(&self) -> Option<usize> {
        let mut left = self.left.lock();
        let at = left.iter().position(|piece| !piece.taken)?;
        left.get_mut(at)?.taken = true;
        Some(at)
    }

    /// The remaining range of a piece, if any.
    fn range(&self, at: usize) -> Option<KeyRange> {
        let range = self.left.lock().get(at)?.left.clone();
        range.end.as_ref().is_none_or(|end| range.start < *end).then_some(range)
    }

    fn set(&self, at: usize, range: KeyRange, done: Batch) {
        let mut left = self.left.lock();
        let Some(piece) = left.get_mut(at) else { return };
        piece.left = match done {
            Batch::Next(start) => KeyRange { start, end: range.end },
            // An empty range.
            Batch::End => KeyRange { start: range.start.clone(), end: Some(range.start) },
        };
    }

    fn is_of(&self, table: &Table, index: &Index) -> bool {
        (table.storage, index.storage) == (self.table.storage, self.entries)
    }

    fn is_of_now(&self) -> EngineResult<bool> {
        let engine = self.context.engine()?;
        Ok(self.spec.find(&engine).is_some_and(|(table, index)| self.is_of(&table, &index)))
    }
}
