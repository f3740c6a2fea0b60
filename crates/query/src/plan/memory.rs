//! The memory pool that all running queries share; when it is exhausted, they spill.
//!
//! Operators that can spill may fill two thirds of it; beyond that each may still grow to an equal share of the two
//! thirds, or to the size of a few batches. The last third is reserved for operators that cannot spill: the merge of
//! spilled runs is one of them, and without memory to merge, no operator could read back what it spilled.

use super::{Planner, PlannerOptions};
use crate::error::QueryResult;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation};
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An operator may always hold this fraction of the pool, but no more than a few batches need: with less it can neither
/// spill nor merge its spilled runs, however full the pool is.
const SMALLEST_SHARE: usize = 4;
const ENOUGH: usize = 16 << 20;

/// The guaranteed minimums may exceed the pool by this fraction of it; beyond, many concurrent sorts are refused.
const OVERDRAFT: usize = 4;

/// All operators together may always have this much: the joins of a single query need it, however small the pool.
const LEAST: usize = 5 * ENOUGH;

/// The factor between the memory that aggregates use and what they reserve: their hash tables double in size, and are
/// copied when they are returned or spilled.
const TIMES_AGGREGATED: usize = 2;

fn times(reservation: &MemoryReservation) -> usize {
    if reservation.consumer().name().contains("AggregateStream") { TIMES_AGGREGATED } else { 1 }
}

/// A request up to this size is never refused: the error would need more memory.
const TRIFLE: usize = 64 << 10;

/// The runtime environment and memory pool for `options`.
pub(super) fn runtime(options: &PlannerOptions) -> QueryResult<(RuntimeEnv, Arc<QueryMemory>)> {
    let disk = match &options.spill_dir {
        Some(folder) => DiskManagerBuilder::default().with_mode(DiskManagerMode::Directories(vec![folder.clone()])),
        None => DiskManagerBuilder::default().with_mode(DiskManagerMode::OsTmpDirectory),
    };
    let pool = Arc::new(QueryMemory::new(options.memory_bytes));
    let builder = RuntimeEnvBuilder::new().with_memory_pool(Arc::clone(&pool) as _).with_disk_manager_builder(disk);
    Ok((builder.build()?, pool))
}

/// Bytes that a sort reserves for merging its runs: with many concurrent sorts, each must fit beside the others.
pub(super) fn bytes_for_merging(memory_bytes: usize) -> usize {
    (memory_bytes / 64).min(10 << 20)
}

impl Planner {
    /// The bytes of memory that queries share.
    pub fn memory_bytes(&self) -> usize {
        self.memory.bytes
    }

    /// The folder that queries spill to.
    pub fn spill_folder(&self) -> &Path {
        self.spill.path()
    }
}

/// A memory pool that is divided fairly between operators that can spill.
#[derive(Debug)]
pub(super) struct QueryMemory {
    bytes: usize,
    used: Mutex<Used>,
}

#[derive(Debug, Default)]
struct Used {
    /// The number of operators that can spill.
    spillers: usize,
    spillable: usize,
    unspillable: usize,
    /// The part of both that is held outside of plans, for each of [`HOLDERS`].
    held: [usize; HOLDERS.len()],
}

/// The metrics of memory held outside of plans, and the consumers that each one counts.
const HOLDERS: [(&str, &[&str]); 4] = [
    ("query_memory_answers_bytes", &["an answer"]),
    (
        "query_memory_writes_bytes",
        &["the writes of a transaction", "the rows of a statement", "the rows of a bulk load"],
    ),
    ("query_memory_prepared_bytes", &["a prepared statement"]),
    ("query_memory_input_bytes", &["a message of a client", "a line of COPY"]),
];

fn holder(reservation: &MemoryReservation) -> Option<usize> {
    let name = reservation.consumer().name();
    HOLDERS.iter().position(|(_, names)| names.contains(&name))
}

impl Used {
    fn change(&mut self, reservation: &MemoryReservation, change: impl Fn(usize) -> usize) {
        let kind = if reservation.consumer().can_spill() { &mut self.spillable } else { &mut self.unspillable };
        *kind = change(*kind);
        if let Some(held) = holder(reservation).and_then(|at| self.held.get_mut(at)) {
            *held = change(*held);
        }
    }
}

impl QueryMemory {
    fn new(bytes: usize) -> Self {
        Self { bytes, used: Mutex::default() }
    }

    /// The memory in use, by holder, under the names of metrics.
    pub(super) fn figures(&self) -> Vec<(&'static str, u64)> {
        let used = self.used();
        let all = used.spillable + used.unspillable;
        let in_plans = all.saturating_sub(used.held.iter().sum());
        let mut figures = vec![
            ("query_memory_bytes", all as u64),
            ("query_memory_limit_bytes", self.bytes as u64),
            ("query_memory_plans_bytes", in_plans as u64),
        ];
        figures.extend(HOLDERS.iter().zip(used.held).map(|((name, _), bytes)| (*name, bytes as u64)));
        figures
    }

    fn used(&self) -> MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn for_spillers(&self) -> usize {
        self.bytes / 3 * 2
    }

    /// May an operator that can spill hold `wanted` bytes, `additional` of them new?
    fn may_hold(&self, used: &Used, wanted: usize, additional: usize) -> bool {
        let all = self.for_spillers().min(self.bytes.saturating_sub(used.unspillable));
        wanted <= self.always().max(all / used.spillers.max(1)) || used.spillable + additional <= all
    }

    /// Bytes that every operator is granted, as long as the pool is not overdrawn.
    fn always(&self) -> usize {
        (self.bytes / SMALLEST_SHARE).min(ENOUGH)
    }

    /// Would the total exceed the pool and its overdraft?
    fn is_overdrawn(&self, used: &Used, additional: usize) -> bool {
        let all = used.spillable.saturating_add(used.unspillable).saturating_add(additional);
        all > self.bytes.saturating_add(self.bytes / OVERDRAFT).max(LEAST)
    }

    /// The bytes left for operators that cannot spill.
    fn left(&self, used: &Used) -> usize {
        self.bytes.saturating_sub(used.unspillable).saturating_sub(used.spillable.min(self.for_spillers()))
    }
}

impl std::fmt::Display for QueryMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "query memory of {} MB", self.bytes >> 20)
    }
}

impl MemoryPool for QueryMemory {
    fn name(&self) -> &str {
        "queries"
    }

    fn register(&self, consumer: &MemoryConsumer) {
        if consumer.can_spill() {
            self.used().spillers += 1;
        }
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        if consumer.can_spill() {
            let mut used = self.used();
            used.spillers = used.spillers.saturating_sub(1);
        }
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        let additional = additional.saturating_mul(times(reservation));
        self.used().change(reservation, |bytes| bytes + additional);
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        let shrink = shrink.saturating_mul(times(reservation));
        self.used().change(reservation, |bytes| bytes.saturating_sub(shrink));
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<()> {
        let (asked, times) = (additional, times(reservation));
        let additional = additional.saturating_mul(times);
        let wanted = additional.saturating_add(reservation.size().saturating_mul(times));
        let mut used = self.used();
        if self.is_overdrawn(&used, additional) && wanted > TRIFLE {
            return Err(self.used_up(reservation, asked));
        }
        if reservation.consumer().can_spill() {
            if !self.may_hold(&used, wanted, additional) {
                return Err(self.used_up(reservation, asked));
            }
        } else if wanted > self.always() && additional > self.left(&used) {
            return Err(self.used_up(reservation, asked));
        }
        used.change(reservation, |bytes| bytes + additional);
        Ok(())
    }

    fn reserved(&self) -> usize {
        let used = self.used();
        used.spillable + used.unspillable
    }

    fn memory_limit(&self) -> MemoryLimit {
        MemoryLimit::Finite(self.bytes)
    }
}

impl QueryMemory {
    fn used_up(&self, reservation: &MemoryReservation, additional: usize) -> DataFusionError {
        DataFusionError::ResourcesExhausted(format!(
            "{} asked for {} kB beside its {} kB, and the {self} (query_memory_mib) is used up",
            reservation.consumer().name(),
            additional.div_ceil(1 << 10),
            reservation.size() >> 10,
        ))
    }
}
