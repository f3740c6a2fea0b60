//! Entries of the rows that nobody has written since writers maintain them.
//!
//! ```text
//!   pieces of the table, by its regions ──> workers ──> batches:  keys ──lock──> newest rows ──> entries ──commit
//!                                              └──> position, kept every now and then
//! ```
//! A batch locks its rows as readers that want them unchanged do (SHARE), reads their newest state and writes their entries in
//! one commit. A row that a writer holds is left out and comes afterwards, alone: nobody waits for a lock while it holds others.
//! Rows that come behind a batch were written by writers who maintain their entries.

use super::BuildSpec;
use super::position::{Left, Position};
use crate::dml::{FAMILY, Target};
use crate::error::EngineResult;
use crate::jobs::job::{JobContext, JobHost};
use crate::row_writer::{index_codec, know_index};
use crate::settings::TimeZone;
use crate::{Engine, SessionStart};
use catalog::{Index, JobCounts, Table, TableOid};
use index::IndexCodec;
use parking_lot::Mutex;
use query::QueryError;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use store::{Bytes, CommitNo, Durability, KeyRange, ReadAt, ScanRequest, Snapshot, Store, TableSize, WriteBatch};
use tokio::time::Instant;
use txn::{LockMode, LockWait, Transaction, TransactionOptions, TxnError};
use types::{Datum, interrupt};

/// Rows of one batch, at most.
const BATCH_ROWS: usize = 1024;
/// Rows of a batch that are in memory at a time.
const ROWS_IN_MEMORY: usize = 64;
/// Workers of one build.
const WORKERS: usize = 2;
/// Pieces that a table is cut into for each worker, so that they end at about the same time.
const PIECES: usize = 4;
/// Time between two positions that are kept.
const KEEP_EVERY: Duration = Duration::from_millis(300);
/// Time until a row that somebody holds is tried again.
const BUSY: Duration = Duration::from_millis(5);
/// What it takes to make an entry.
const STEPS_OF_AN_ENTRY: usize = 512;

/// A backfill under way.
struct Backfill {
    context: JobContext,
    table: Arc<Table>,
    spec: BuildSpec,
    entries: u32,
    /// The last commit when all writers maintained entries: whoever did not has committed, and may not be published yet.
    seen: CommitNo,
    /// What is left, in the order of the pieces. Held for one look or change.
    left: Mutex<Vec<Piece>>,
    /// When the position was kept last. Held as `left`.
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

/// Writes the entries of all rows. The position, with nothing left; `None`: the table or the index has other storage than at the
/// start.
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
    let workers = (0..WORKERS).map(|_| worker()).collect::<EngineResult<Vec<_>>>()?;
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

/// What is left of an earlier run, or all rows in pieces.
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
    let pieces = engine.store().split(storage, FAMILY, &all, regions.max(WORKERS * PIECES)).await?;
    let counts = JobCounts { rows_total: size.rows, bytes_total: size.bytes, ..JobCounts::default() };
    context.save(Durability::Buffered, |record| record.counts = counts).await?;
    Ok((pieces.into_iter().flatten().collect(), counts))
}

/// What became of a batch.
enum Batch {
    /// Its rows have their entries; the next one begins here.
    Next(Bytes),
    /// There are no more rows.
    End,
}

impl Backfill {
    /// Takes pieces until there are none.
    async fn work(&self) -> EngineResult<()> {
        let mut codecs = None;
        while let Some(at) = self.take() {
            while let Some(range) = self.range(at) {
                self.context.check()?;
                let done = self.batch(&range, &mut codecs).await?;
                let Some(done) = done else { return Ok(()) };
                self.set(at, range, done);
                self.keep_now_and_then().await?;
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

    /// What is left of a piece, if anything.
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

    /// Entries of the first rows of a range; `None`: not of this storage any more.
    async fn batch(&self, range: &KeyRange, codecs: &mut Option<Codecs>) -> EngineResult<Option<Batch>> {
        let engine = self.context.engine()?;
        let mut txn = transaction(&engine);
        let storage = self.table.storage_id();
        let lock = async { Ok(txn.locks().lock_table(storage, LockMode::Shared, LockWait::Forever).await.map(drop)?) };
        self.context.stoppable(lock).await?;
        let Some(codecs) = self.codecs(&engine, codecs).await? else { return Ok(None) };
        let keys = first_keys(engine.store().as_ref(), storage, range, self.seen).await?;
        let Some(last) = keys.last().cloned() else { return Ok(Some(Batch::End)) };
        let full = keys.len() >= BATCH_ROWS;
        let mut busy = Vec::new();
        let mut mine = Vec::with_capacity(keys.len());
        for key in keys {
            match txn.lock_row(storage, &key, LockMode::Shared, LockWait::Never).await {
                Ok(_) => mine.push(key),
                Err(TxnError::LockNotAvailable { .. }) => busy.push(key),
                Err(error) => return Err(error.into()),
            }
        }
        self.add_entries(&engine, codecs, &mut txn, &mine).await?;
        txn.commit(Durability::Buffered).await?;
        for key in busy {
            if !self.busy_row(&engine, &key).await? {
                return Ok(None);
            }
        }
        Ok(Some(if full { Batch::Next(successor(&last)) } else { Batch::End }))
    }

    /// The entry of a row that somebody held.
    async fn busy_row(&self, engine: &Arc<Engine>, key: &Bytes) -> EngineResult<bool> {
        let storage = self.table.storage_id();
        loop {
            self.context.check()?;
            let mut txn = transaction(engine);
            let lock =
                async { Ok(txn.locks().lock_table(storage, LockMode::Shared, LockWait::Forever).await.map(drop)?) };
            self.context.stoppable(lock).await?;
            let mut codecs = None;
            let Some(codecs) = self.codecs(engine, &mut codecs).await? else { return Ok(false) };
            match txn.lock_row(storage, key, LockMode::Shared, LockWait::Never).await {
                Ok(_) => {
                    self.add_entries(engine, codecs, &mut txn, std::slice::from_ref(key)).await?;
                    txn.commit(Durability::Buffered).await?;
                    return Ok(true);
                }
                // Nothing is held while it waits: the holder may want the table alone.
                Err(TxnError::LockNotAvailable { .. }) => drop(txn),
                Err(error) => return Err(error.into()),
            }
            tokio::time::sleep(BUSY).await;
        }
    }

    /// Entries of rows whose locks are held.
    async fn add_entries(
        &self,
        engine: &Engine,
        codecs: &Codecs,
        txn: &mut Transaction,
        keys: &[Bytes],
    ) -> EngineResult<()> {
        let Codecs { target, index, .. } = codecs;
        let storage = self.table.storage_id();
        let mut row = vec![Datum::Null; target.width()];
        for some in keys.chunks(ROWS_IN_MEMORY) {
            let wanted: Vec<&[u8]> = some.iter().map(AsRef::as_ref).collect();
            let rows = engine.store().get(storage, FAMILY, &wanted, ReadAt::Newest).await?;
            let mut bytes = 0;
            for (key, fragment) in some.iter().zip(rows) {
                interrupt::spend(STEPS_OF_AN_ENTRY).map_err(QueryError::from)?;
                let Some(fragment) = fragment else { continue };
                bytes += (key.len() + fragment.len()) as u64;
                let values = target.codec.decode_row(key, &fragment, index.columns())?;
                for (at, value) in index.columns().iter().zip(values) {
                    if let Some(slot) = row.get_mut(*at) {
                        *slot = value;
                    }
                }
                if let Some(entry) = index.entry(&row)? {
                    txn.put(index.index().storage_id(), FAMILY, entry.key, entry.fragment).await?;
                }
            }
            self.rows.fetch_add(some.len() as u64, Ordering::Relaxed);
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        Ok(())
    }

    /// How rows become entries now. The table's lock is held.
    async fn codecs<'c>(
        &self,
        engine: &Arc<Engine>,
        known: &'c mut Option<Codecs>,
    ) -> EngineResult<Option<&'c Codecs>> {
        let catalog = engine.catalog().current();
        if known.as_ref().is_none_or(|codecs| codecs.version != catalog.version()) {
            let Some(table) = catalog.table_by_oid(TableOid(self.spec.table)) else { return Ok(None) };
            let index = table.indexes.iter().find(|index| index.oid == self.spec.index);
            let Some(index) = index.filter(|index| self.is_of(table, index)) else { return Ok(None) };
            if index.texts().next().is_some() {
                // What an index computes does not depend on the session that compiles it.
                engine.session(SessionStart::default())?.compile_indexes(&catalog, table).await?;
            }
            know_index(engine, table, index)?;
            let target = Target::new(&catalog, table, TimeZone::UTC)?;
            *known = Some(Codecs { version: catalog.version(), target, index: index_codec(table, index)? });
        }
        Ok(known.as_ref())
    }

    fn is_of(&self, table: &Table, index: &Index) -> bool {
        (table.storage, index.storage) == (self.table.storage, self.entries)
    }

    fn is_of_now(&self) -> EngineResult<bool> {
        let engine = self.context.engine()?;
        Ok(self.spec.find(&engine).is_some_and(|(table, index)| self.is_of(&table, &index)))
    }

    fn position(&self) -> Position {
        let is_left = |piece: &&Piece| piece.left.end.as_ref().is_none_or(|end| piece.left.start < *end);
        let left = self.left.lock().iter().filter(is_left).map(|piece| Left::of(&piece.left)).collect();
        Position { rows: self.table.storage, entries: self.entries, left, swapped: false }
    }

    async fn keep_now_and_then(&self) -> EngineResult<()> {
        {
            let mut kept = self.kept.lock();
            if kept.elapsed() < KEEP_EVERY {
                return Ok(());
            }
            *kept = Instant::now();
        }
        self.keep().await
    }

    /// Keeps the position. What is behind it is in the log before it.
    async fn keep(&self) -> EngineResult<()> {
        let position = crate::jobs::kind::to_json(&self.position())?;
        let counts = JobCounts {
            rows: self.before.rows + self.rows.load(Ordering::Relaxed),
            bytes: self.before.bytes + self.bytes.load(Ordering::Relaxed),
            ..self.before
        };
        self.context
            .save(Durability::Buffered, |record| {
                record.position = position;
                record.counts = counts;
            })
            .await
    }

    /// No faster than its rate; and others have a turn between two batches.
    async fn throttle(&self) -> EngineResult<()> {
        tokio::task::yield_now().await;
        if self.spec.rate == 0 {
            return Ok(());
        }
        let due = Duration::from_secs_f64(self.rows.load(Ordering::Relaxed) as f64 / self.spec.rate as f64);
        let ahead = due.saturating_sub(self.began.elapsed());
        self.context
            .stoppable(async {
                tokio::time::sleep(ahead).await;
                Ok(())
            })
            .await
    }
}

/// How rows of one version of the definitions become entries.
struct Codecs {
    version: u64,
    target: Target,
    index: IndexCodec,
}

fn transaction(engine: &Engine) -> Transaction {
    Transaction::begin(Arc::clone(engine.store()), engine.locks(), TransactionOptions::default())
}

/// The first keys of a range in the newest state that is published.
async fn first_keys(
    store: &dyn Store,
    table: store::TableId,
    range: &KeyRange,
    seen: CommitNo,
) -> EngineResult<Vec<Bytes>> {
    let state: Snapshot = store.snapshot(seen).await?;
    let mut request = ScanRequest::new(table, FAMILY, vec![range.clone()]);
    request.values = false;
    request.limit = Some(BATCH_ROWS as u64);
    request.batch_rows = BATCH_ROWS;
    let mut scan = store.scan(request, &state).await?;
    let mut keys = Vec::with_capacity(BATCH_ROWS);
    while let Some(batch) = scan.next().await? {
        keys.extend(batch.keys().map(Bytes::copy_from_slice));
    }
    Ok(keys)
}

/// The least key behind this one.
fn successor(key: &[u8]) -> Bytes {
    let mut next = Vec::with_capacity(key.len() + 1);
    next.extend_from_slice(key);
    next.push(0);
    next.into()
}
