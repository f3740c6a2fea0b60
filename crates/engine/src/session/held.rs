//! Accounting of memory for statements and connections, in the pool that queries share.

use crate::{Chunk, Engine, Session};
use arrow::array::RecordBatch;
use query::{HeldMemory, Planner, QueryResult};
use std::path::Path;
use std::sync::Arc;
use store::LoadMemory;
use txn::WriteMemory;
use types::Datum;

/// A written row is held several times: in the transaction, in the batch of its commit, and in the store's encoding
/// of the batch. It also has a lock.
const TIMES_WRITTEN: usize = 3;

/// A row of a row set is held as read, as locked, and as changed.
const TIMES_CHANGED: usize = 3;

/// The row's key in the statement and in its lock.
const KEY_AND_LOCK: usize = 256;

/// The writes of a transaction stay in memory up to one part in this many of the shared memory, within these bounds.
const PART_OF_MEMORY: usize = 16;
const LEAST_WRITES: usize = 1 << 20;
const MOST_WRITES: usize = 64 << 20;

/// The memory of a transaction's writes.
#[derive(Debug)]
pub(crate) struct Writes {
    memory: HeldMemory,
    planner: Arc<Planner>,
}

impl Writes {
    pub(crate) fn new(engine: &Engine) -> Self {
        Self { memory: engine.hold("the writes of a transaction"), planner: Arc::clone(engine.planner()) }
    }

    /// Number of bytes above which writes are spilled to files.
    pub(crate) fn most(&self) -> usize {
        (self.planner.memory_bytes() / PART_OF_MEMORY).clamp(LEAST_WRITES, MOST_WRITES)
    }
}

impl WriteMemory for Writes {
    fn hold(&self, bytes: usize) -> bool {
        self.memory.try_resize(bytes.saturating_mul(TIMES_WRITTEN)).is_ok()
    }

    fn spill_folder(&self) -> Option<&Path> {
        Some(self.planner.spill_folder())
    }
}

/// What a load that reads a plan may hold when memory is short: about the rows of one batch, which exist already.
/// Otherwise a statement would fail because of memory that its own plan holds.
const ROWS_OF_A_BATCH: usize = 4 << 20;

/// The memory of a bulk load's buffers.
#[derive(Debug)]
struct Buffers {
    held: HeldMemory,
    /// This many bytes are granted even if they overdraw the pool.
    least: usize,
}

impl LoadMemory for Buffers {
    fn hold(&self, bytes: usize) -> bool {
        if self.held.try_resize(bytes).is_ok() {
            return true;
        }
        if bytes <= self.least {
            self.held.grow(bytes.saturating_sub(self.held.bytes()));
        }
        bytes <= self.least
    }
}

impl Engine {
    /// Memory for the buffers of a bulk load, initially empty. `of_plan`: the rows come from a plan.
    pub(crate) fn load_memory(&self, of_plan: bool) -> Arc<dyn LoadMemory> {
        let least = if of_plan { ROWS_OF_A_BATCH } else { 0 };
        Arc::new(Buffers { held: self.hold("the rows of a bulk load"), least })
    }

    /// Memory for `holder`, initially empty.
    pub(crate) fn hold(&self, holder: &'static str) -> HeldMemory {
        self.planner().hold(holder)
    }
}

impl Session {
    /// Memory for what a front end holds for the session, initially empty.
    pub fn hold(&self, holder: &'static str) -> HeldMemory {
        self.engine.hold(holder)
    }

    /// Memory for the rows that a statement changes, initially empty.
    pub(crate) fn hold_rows(&self) -> Arc<HeldMemory> {
        Arc::new(self.engine.hold("the rows of a statement"))
    }
}

/// Accounts for rows that a statement changes.
///
/// # Errors
/// 53200.
pub(crate) fn hold_rows(memory: &HeldMemory, rows: &[Vec<Datum>]) -> QueryResult<()> {
    let bytes: usize =
        rows.iter().map(|row| Datum::row_memory_size(row).saturating_mul(TIMES_CHANGED) + KEY_AND_LOCK).sum();
    memory.try_grow(bytes)
}

/// Accounts for result rows of a statement.
///
/// # Errors
/// 53200.
pub(crate) fn hold_answer(memory: &HeldMemory, rows: &[Vec<Datum>]) -> QueryResult<()> {
    memory.try_grow(rows.iter().map(|row| Datum::row_memory_size(row)).sum())
}

/// The memory of a chunk. Each slice of a batch counts all buffers of the batch.
pub(crate) fn size_of_chunk(chunk: &Chunk) -> usize {
    match chunk {
        Chunk::Batch(batch) => RecordBatch::get_array_memory_size(batch),
        Chunk::Stored(rows) => rows.bytes(),
        Chunk::Rows(rows) => rows.iter().map(|row| Datum::row_memory_size(row)).sum(),
    }
}
