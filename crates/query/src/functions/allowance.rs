//! Limits how many bytes functions may allocate at a time.
//!
//! `repeat`, `replace`, `array_fill` and similar functions return values of any size for small arguments, and a batch
//! has thousands of rows. So results are counted as they are made, and a large result is checked before it is
//! allocated. If the operator can retry with fewer rows (`exec/pieces.rs`), a call for several rows fails as soon as it
//! exceeds the share of a batch. If the operator cannot retry, or there is only one row, the memory beyond that share
//! is reserved from the memory of all queries.
//!
//! The allowance travels in DataFusion's options. Bodies of functions find the current call in a thread-local: they are
//! plain functions that never await.

use crate::error::{QueryError, QueryResult};
use datafusion::common::Result;
use datafusion::common::config::{ConfigEntry, ConfigExtension, ConfigOptions, ExtensionOptions};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use types::Datum;

/// The memory limits of functions in the plans of one `Planner`.
#[derive(Clone, Debug)]
pub(crate) struct Allowance {
    /// Bytes for one batch of several rows.
    batch: usize,
    /// The pool that grants memory beyond the share of a batch.
    pool: Option<Arc<dyn MemoryPool>>,
}

impl Default for Allowance {
    fn default() -> Self {
        Self { batch: batch_bytes(usize::MAX), pool: None }
    }
}

/// Returns the share of a batch. It is small, because hundreds of connections have one or two batches each.
pub(crate) fn batch_bytes(memory: usize) -> usize {
    (memory / 512).clamp(256 << 10, 4 << 20)
}

impl Allowance {
    /// Creates an allowance from a pool of `memory` bytes.
    pub(crate) fn new(memory: usize, pool: Arc<dyn MemoryPool>) -> Self {
        Self { batch: batch_bytes(memory), pool: Some(pool) }
    }

    /// Returns the allowance of a DataFusion session.
    pub(crate) fn of(options: &ConfigOptions) -> Self {
        options.extensions.get::<Self>().cloned().unwrap_or_default()
    }

    /// Runs `work`, which computes the values of so many rows, under this allowance.
    pub(crate) fn during<T>(&self, rows: usize, work: impl FnOnce() -> T) -> T {
        /// Restores the outer call, also if the work panics.
        struct Restore(Option<Call>);
        impl Drop for Restore {
            fn drop(&mut self) {
                CALL.set(self.0.take());
            }
        }
        let splits = rows > 1 && SPLITS.get();
        let more = self.pool.as_ref().filter(|_| !splits).map(|pool| More { pool: Arc::clone(pool), held: None });
        let call = Call { made: 0, batch: self.batch, splits, more };
        let _restore = Restore(CALL.replace(Some(call)));
        work()
    }
}

impl ConfigExtension for Allowance {
    const PREFIX: &'static str = "bennu_allowance";
}

impl ExtensionOptions for Allowance {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn cloned(&self) -> Box<dyn ExtensionOptions> {
        Box::new(self.clone())
    }

    fn set(&mut self, _: &str, _: &str) -> Result<()> {
        Err(QueryError::internal("the allowance of functions is no option of statements").into())
    }

    fn entries(&self) -> Vec<ConfigEntry> {
        Vec::new()
    }
}

/// A call of a function for a batch of rows.
struct Call {
    /// Bytes allocated so far.
    made: usize,
    batch: usize,
    /// Whether the operator retries with fewer rows if the call fails.
    splits: bool,
    /// The memory beyond the share of a batch.
    more: Option<More>,
}

/// A reservation from the memory of all queries.
struct More {
    pool: Arc<dyn MemoryPool>,
    /// Registered on first use: most calls need none.
    held: Option<MemoryReservation>,
}

impl More {
    fn held(&mut self) -> &MemoryReservation {
        self.held.get_or_insert_with(|| MemoryConsumer::new("a function").register(&self.pool))
    }
}

thread_local! {
    static CALL: RefCell<Option<Call>> = const { RefCell::new(None) };
    static SPLITS: Cell<bool> = const { Cell::new(false) };
}

/// Evaluates expressions for a batch that is split if `work` fails with [`QueryError::Resources`].
pub(crate) fn with_batch_splitting<T>(work: impl FnOnce() -> T) -> T {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            SPLITS.set(self.0);
        }
    }
    let _restore = Restore(SPLITS.replace(true));
    work()
}

/// Checks whether the current call may allocate so many bytes more.
///
/// # Errors
/// [`QueryError::Resources`] if the limit for so many rows, or the memory of all queries, is exceeded.
pub(crate) fn check_allocation(bytes: usize) -> QueryResult<()> {
    CALL.with_borrow_mut(|call| match call {
        Some(call) => call.check_allocation(bytes).map(drop),
        None => Ok(()),
    })
}

/// Counts so many bytes as allocated by the current call.
///
/// # Errors
/// As [`check_allocation`].
pub(crate) fn made(bytes: usize) -> QueryResult<()> {
    CALL.with_borrow_mut(|call| {
        let Some(call) = call else { return Ok(()) };
        if let Some(beyond) = call.check_allocation(bytes)? {
            let more = call.more.as_mut().map_or(Ok(()), |more| more.held().try_grow(beyond));
            more.map_err(QueryError::from)?;
        }
        call.made = call.made.saturating_add(bytes);
        Ok(())
    })
}

impl Call {
    /// Returns how many more bytes must be reserved; `None` for no reservation.
    fn check_allocation(&mut self, bytes: usize) -> QueryResult<Option<usize>> {
        let wanted = self.made.saturating_add(bytes);
        if wanted <= self.batch {
            return Ok(None);
        }
        let too_much = || QueryError::Resources {
            detail: format!("a function asked for {} kB for its values (query_memory_mib)", wanted.div_ceil(1 << 10)),
        };
        let Some(more) = &mut self.more else { return if self.splits { Err(too_much()) } else { Ok(None) } };
        let more = more.held();
        let beyond = (wanted - self.batch).saturating_sub(more.size());
        // Released at once: the caller may not allocate after all.
        let probe = more.new_empty();
        probe.try_grow(beyond).map_err(|_| too_much())?;
        Ok(Some(beyond))
    }
}

/// Returns the approximate memory of so many array elements.
pub(crate) fn size_of_items(count: usize) -> usize {
    count.saturating_mul(size_of::<Datum>())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use datafusion::execution::memory_pool::GreedyMemoryPool;

    #[test]
    fn several_rows_share_a_batch_and_one_row_may_have_what_the_pool_gives() {
        let pool: Arc<dyn MemoryPool> = Arc::new(GreedyMemoryPool::new(4 << 20));
        let allowance = Allowance::new(1 << 20, Arc::clone(&pool));
        let make = |rows, bytes| allowance.during(rows, || check_allocation(bytes).and_then(|()| made(bytes)));
        let make_split = |rows, bytes| with_batch_splitting(|| make(rows, bytes));
        assert!(make_split(8, 200 << 10).is_ok());
        assert!(matches!(make_split(8, 300 << 10), Err(QueryError::Resources { .. })));
        assert!(make_split(1, 4 << 20).is_ok());
        assert!(make(8, 4 << 20).is_ok());
        assert!(matches!(make(1, 5 << 20), Err(QueryError::Resources { .. })));
        assert_eq!(pool.reserved(), 0, "given back with the call");
    }
}
