//! Hidden row ids: the key of a table that was declared without one.
//!
//! ```text
//!   bigint   0 | 42 bits: milliseconds since 1970 | 9 bits: node | 12 bits: counter
//! ```
//! An id is never given twice, also not after a crash, a clock that steps back or one that runs ahead:
//! ids are given only below a mark that is durable in the catalog's system table, and a new process
//! begins at the mark of the one before. Within a process the time part never steps back; more than
//! 4096 ids within a millisecond borrow from the next one.
//!
//! A mark reaches [`LEASE_MS`] ahead of the clock, so that it is written once in that time at most
//! (or once per [`HEADROOM`] ids, for whoever makes them faster than 4096 in a millisecond).

use crate::{CatalogResult, stored};
use std::sync::Arc;
use store::{Clock, Durability, Store};
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
    node: u16,
    /// An async lock, since it is held while a mark is written: ids wait for their mark.
    state: Mutex<State>,
}

/// Places are `milliseconds << 12 | counter`.
#[derive(Debug)]
struct State {
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
    pub(crate) fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, mark: u64) -> Self {
        // One node per store so far; a second one needs a number of its own before it may give ids.
        Self { store, clock, node: 0, state: Mutex::new(State { next: mark, mark }) }
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
        let first = state.next.max(now);
        let end = first + u64::from(count);
        if end > state.mark {
            let mark = (now + (LEASE_MS << COUNTER_BITS)).max(end + HEADROOM);
            let commit = self.store.apply(stored::row_id_mark(self.node, mark)?, Durability::Sync).await?;
            self.store.sync(commit).await?;
            state.mark = mark;
        }
        state.next = end;
        Ok(RowIdBlock { next: first, end, node: self.node })
    }
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
