//! What statements and connections hold of the memory that queries share.

use crate::{Chunk, Engine, Session};
use arrow::array::RecordBatch;
use query::{HeldMemory, Planner, QueryResult};
use std::path::Path;
use std::sync::Arc;
use store::LoadMemory;
use txn::WriteMemory;
use types::Datum;

/// A written row is there several times: in the transaction, as the batch of its commit, and as what the store makes of
/// that; and it has a lock.
const TIMES_WRITTEN: usize = 3;

/// A row of a row set is there as it was read, as it is under its lock, and as it becomes.
const TIMES_CHANGED: usize = 3;

/// Its key, as the statement and as its lock have it.
const KEY_AND_LOCK: usize = 256;

/// The writes of one transaction stay in memory up to this part of what queries share, within these bounds.
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

    /// Bytes beyond which they go to files.
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

/// What a load that reads a plan may hold where memory is short: about the rows of one batch, which are there already. Without
/// it a statement would fail for the memory that its own plan holds.
const ROWS_OF_A_BATCH: usize = 4 << 20;

/// The memory of a bulk load's buffers.
#[derive(Debug)]
struct Buffers {
    held: HeldMemory,
    /// So many bytes are held even where the pool is overdrawn by them.
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
    /// Memory for the buffers of a bulk load, nothing yet. `of_plan`: its rows come from a plan.
    pub(crate) fn load_memory(&self, of_plan: bool) -> Arc<dyn LoadMemory> {
        let least = if of_plan { ROWS_OF_A_BATCH } else { 0 };
        Arc::new(Buffers { held: self.hold("the rows of a bulk load"), least })
    }

    /// Memory for `holder`, nothing yet.
    pub(crate) fn hold(&self, holder: &'static str) -> HeldMemory {
        self.planner().hold(holder)
    }
}

impl Session {
    /// Memory for what a front end holds for the session, nothing yet.
    pub fn hold(&self, holder: &'static str) -> HeldMemory {
        self.engine.hold(holder)
    }

    /// For the rows that a statement changes.
    pub(crate) fn hold_rows(&self) -> Arc<HeldMemory> {
        Arc::new(self.engine.hold("the rows of a statement"))
    }
}

/// Holds rows that a statement is to change.
///
/// # Errors
/// 53200.
pub(crate) fn hold_rows(memory: &HeldMemory, rows: &[Vec<Datum>]) -> QueryResult<()> {
    let bytes: usize =
        rows.iter().map(|row| Datum::row_memory_size(row).saturating_mul(TIMES_CHANGED) + KEY_AND_LOCK).sum();
    memory.try_grow(bytes)
}

/// Holds rows that a statement answers.
///
/// # Errors
/// 53200.
pub(crate) fn hold_answer(memory: &HeldMemory, rows: &[Vec<Datum>]) -> QueryResult<()> {
    memory.try_grow(rows.iter().map(|row| Datum::row_memory_size(row)).sum())
}

/// The memory of a chunk. Slices of one batch count its buffers each.
pub(crate) fn size_of_chunk(chunk: &Chunk) -> usize {
    match chunk {
        Chunk::Batch(batch) => RecordBatch::get_array_memory_size(batch),
        Chunk::Stored(rows) => rows.bytes(),
        Chunk::Rows(rows) => rows.iter().map(|row| Datum::row_memory_size(row)).sum(),
    }
}
