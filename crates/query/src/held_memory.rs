//! Memory that is held outside of plans: by answers under way, writes, named statements.

use crate::error::{QueryError, QueryResult};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use std::sync::Arc;

/// Bytes of the memory that queries share. Given back when it is dropped.
#[derive(Debug)]
pub struct HeldMemory {
    reservation: MemoryReservation,
}

impl HeldMemory {
    pub(crate) fn of(pool: &Arc<dyn MemoryPool>, holder: &'static str) -> Self {
        Self { reservation: MemoryConsumer::new(holder).register(pool) }
    }

    /// Holds so many bytes more.
    ///
    /// # Errors
    /// [`QueryError::Resources`]: there are not so many left.
    pub fn try_grow(&self, bytes: usize) -> QueryResult<()> {
        self.reservation.try_grow(bytes).map_err(QueryError::from)
    }

    /// Holds so many bytes in all.
    ///
    /// # Errors
    /// As [`Self::try_grow`]; what was held before is held still.
    pub fn try_resize(&self, bytes: usize) -> QueryResult<()> {
        self.reservation.try_resize(bytes).map_err(QueryError::from)
    }

    /// Holds so many bytes more, which are there already: the pool may be overdrawn by them.
    pub fn grow(&self, bytes: usize) {
        self.reservation.grow(bytes);
    }

    /// Bytes that are held.
    pub fn bytes(&self) -> usize {
        self.reservation.size()
    }

    /// Another one of the same holder, which holds nothing.
    #[must_use]
    pub fn another(&self) -> Self {
        Self { reservation: self.reservation.new_empty() }
    }
}
