//! Hidden row ids: the key of a table that was declared without one.
//!
//! ```text
//!   bigint   0 | 42 bits: milliseconds since 1970 | 9 bits: node | 12 bits: counter
//! ```
//! An id is never given twice, also not after a crash, a clock that steps back or one that runs ahead:
//! ids are given only below a mark that is durable in the catalog's system table, and a new process
//! begins at the mark of the one before. A mark replaces the one that was read, or is not written, so that also of
//! two processes with one node each has ids of its own. A shared store has a node for each process: one that nobody
//! has used for as long as its mark lies ahead of the clock. Within a process the time part never steps back; more than
//! 4096 ids within a millisecond borrow from the next one.
//!
//! A mark reaches [`LEASE_MS`] ahead of the clock, so that it is written once in that time at most
//! (or once per [`HEADROOM`] ids, for whoever makes them faster than 4096 in a millisecond).

use crate::{CatalogError, CatalogResult, stored};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::{Clock, CommitNo, Store, StoreError};
use tokio::sync::Mutex;

/// Name of the hidden column.
pub const ROW_ID_COLUMN: &str = "_bennu_rowid";

/// How far a mark reaches ahead of the clock.
const LEASE_MS: u64 = 10 * 60 * 1000;
/// Ids that a new mark leaves room for at least.
const HEADROOM: u64 = 1 << 22;
const NODE_BITS: u32 = 9;
const COUNTER_BITS: u32 = 12;

/// Makes hidden row ids. See the file's head.
#[derive(Debug)]
pub struct RowIds {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    /// An async lock, since it is held while a mark is written: ids wait for their mark.
    state: Mutex<State>,
}

/// Places are `milliseconds << 12 | counter`.
#[derive(Debug)]
struct State {
    node: u16,
    /// The stamp of the node's row when it was read or written last; `None`: there was none.
    stamp: Option<CommitNo>,
    /// First place not given yet.
    next: u64,
    /// Places below it may be given: it is durable.
    mark: u64,
}

/// Ids of one reservation, ascending.
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

    /// One id.
    ///
    /// # Errors
    /// [`crate::CatalogError::Store`] when a mark was due and could not be written.
    pub async fn next(&self) -> CatalogResult<i64> {
        let mut block = self.reserve(1).await?;
        // A block of one has one.
        Ok(block.next().unwrap_or_default())
    }

    /// `count` ids at once, for loads and statements of many rows. What is not used is lost.
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

    /// Makes a mark durable. False: another process has the node as well; ids go on behind its mark.
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

/// A node that no process uses any more: its mark is over. Else one that none has used, or the one whose mark is over
/// first.
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
        // 42 bits of milliseconds last until 2109, so the sign bit stays clear.
        Some(id as i64)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.end - self.next).unwrap_or(usize::MAX);
        (left, Some(left))
    }
}

impl ExactSizeIterator for RowIdBlock {}
