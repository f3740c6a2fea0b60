//! Hidden row ids: the key of a table without a primary key.
//!
//! ```text
//!   bigint   0 | 42 bits: milliseconds since 1970 | 9 bits: node | 12 bits: counter
//! ```
//! An id is never reused, also not after a crash or with a clock that steps back or runs ahead: ids are only allocated
//! below a mark that is durable in the system table, and a new process begins at the mark of the previous one. A mark
//! is written on the condition that its row is unchanged, so that two processes with the same node never allocate the
//! same ids. On a shared store each process has its own node: one whose mark has expired, that is, lies behind the
//! clock. Within a process the time part never decreases; more than 4096 ids within a millisecond borrow from the next
//! one.
//!
//! A mark lies [`LEASE_MS`] ahead of the clock, so that it is written at most once in that time (or once per
//! [`HEADROOM`] ids, if more than 4096 ids per millisecond are allocated).

use crate::{CatalogError, CatalogResult, stored};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::{Clock, CommitNo, Store, StoreError};
use tokio::sync::Mutex;

/// Name of the hidden column.
pub const ROW_ID_COLUMN: &str = "_bennu_rowid";

/// How far a mark lies ahead of the clock.
const LEASE_MS: u64 = 10 * 60 * 1000;
/// The minimum number of ids that a new mark reserves.
const HEADROOM: u64 = 1 << 22;
const NODE_BITS: u32 = 9;
const COUNTER_BITS: u32 = 12;

/// Allocates hidden row ids; see the module documentation.
#[derive(Debug)]
pub struct RowIds {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    /// An async lock: it is held while a mark is written, and ids wait for the mark.
    state: Mutex<State>,
}

/// Positions are `milliseconds << 12 | counter`.
#[derive(Debug)]
struct State {
    node: u16,
    /// The commit stamp of the node's row when last read or written; `None` if there was no row.
    stamp: Option<CommitNo>,
    /// The first position that is not allocated yet.
    next: u64,
    /// Positions below the mark may be allocated: the mark is durable.
    mark: u64,
}

/// The ids of one reservation, ascending.
#[derive(Clone, Debug)]
pub struct RowIdBlock {
    next: u64,
    end: u64,
    node: u16,
}

impl RowIds {
    pub(crate) fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, marks: &BTreeMap<u32, (u64, CommitNo)>) -> Self {
        let now = clock.now().0 << COUNTER_BITS;
        let node = if store.capabilities().exclusive { 0 } else { free_node(marks, now) };
        let found = marks.get(&u32::from(node));
        let state = State {
            node,
            stamp: found.map(|found| found.1),
            next: found.map_or(0, |found| found.0),
            mark: found.map_or(0, |found| found.0),
        };
        Self { store, clock, state: Mutex::new(state) }
    }

    /// Allocates one id.
    ///
    /// # Errors
    /// [`crate::CatalogError::Store`] if a new mark could not be written.
    pub async fn next(&self) -> CatalogResult<i64> {
        let mut block = self.reserve(1).await?;
        // A block of one id always has a next one.
        Ok(block.next().unwrap_or_default())
    }

    /// Allocates `count` ids at once, for loads and statements with many rows. Unused ids are lost.
    ///
    /// # Errors
    /// As [`Self::next`].
    pub async fn reserve(&self, count: u32) -> CatalogResult<RowIdBlock> {
        let mut state = self.state.lock().await;
        let now = self.clock.now().0 << COUNTER_BITS;
        loop {
            let first = state.next.max(now);
            let end = first + u64::from(count);
            if end <= state.mark
                || self.extend(&mut state, (now + (LEASE_MS << COUNTER_BITS)).max(end + HEADROOM)).await?
            {
                state.next = end;
                return Ok(RowIdBlock { next: first, end, node: state.node });
            }
        }
    }

    /// Makes a mark durable. Returns false if another process uses the same node; then ids continue after its mark.
    async fn extend(&self, state: &mut State, mark: u64) -> CatalogResult<bool> {
        let (store, node) = (self.store.as_ref(), u32::from(state.node));
        match stored::write_row_id_mark(store, node, mark, state.stamp).await {
            Ok(stamp) => {
                (state.mark, state.stamp) = (mark, Some(stamp));
                Ok(true)
            }
            Err(CatalogError::Store(StoreError::ConditionFailed { .. })) => {
                let found = stored::read_row_id_mark(store, node).await?;
                let taken = found.map_or(0, |found| found.0);
                (state.next, state.mark) = (state.next.max(taken), taken);
                state.stamp = found.map(|found| found.1);
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}

/// Picks a node that no process uses: one with an expired mark, else one without a mark, else the one whose mark
/// expires first.
fn free_node(marks: &BTreeMap<u32, (u64, CommitNo)>, now: u64) -> u16 {
    let nodes = 0..1_u32 << NODE_BITS;
    let mark = |node: &u32| marks.get(node).map_or(0, |found| found.0);
    let over = nodes.clone().find(|node| marks.contains_key(node) && mark(node) <= now);
    let unused = || nodes.clone().find(|node| !marks.contains_key(node));
    let node = over.or_else(unused).or_else(|| nodes.clone().min_by_key(mark)).unwrap_or_default();
    u16::try_from(node).unwrap_or_default()
}

impl Iterator for RowIdBlock {
    type Item = i64;

    fn next(&mut self) -> Option<i64> {
        if self.next == self.end {
            return None;
        }
        let place = self.next;
        self.next += 1;
        let (ms, counter) = (place >> COUNTER_BITS, place & ((1 << COUNTER_BITS) - 1));
        let id = ms << (NODE_BITS + COUNTER_BITS) | u64::from(self.node) << COUNTER_BITS | counter;
        // 42 bits of milliseconds suffice until 2109, so the sign bit stays clear.
        Some(id as i64)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.end - self.next).unwrap_or(usize::MAX);
        (left, Some(left))
    }
}

impl ExactSizeIterator for RowIdBlock {}
