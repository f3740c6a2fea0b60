//! Reservations outside of plans: for results being sent, writes, prepared statements.

use crate::error::{QueryError, QueryResult};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use std::sync::Arc;

/// A reservation in the memory that queries share. Released when it is dropped.
#[derive(Debug)]
pub struct HeldMemory {
    reservation: MemoryReservation,
}

impl HeldMemory {
    pub(crate) fn of(pool: &Arc<dyn MemoryPool>, holder: &'static str) -> Self {
        Self { reservation: MemoryConsumer::new(holder).register(pool) }
    }

    /// Reserves more bytes.
    ///
    /// # Errors
    /// [`QueryError::Resources`] if the memory is exhausted.
    pub fn try_grow(&self, bytes: usize) -> QueryResult<()> {
        self.reservation.try_grow(bytes).map_err(QueryError::from)
    }

    /// Changes the reservation to this many bytes.
    ///
    /// # Errors
    /// As [`Self::try_grow`]; the previous reservation is then kept.
    pub fn try_resize(&self, bytes: usize) -> QueryResult<()> {
        self.reservation.try_resize(bytes).map_err(QueryError::from)
    }

    /// Reserves bytes that are allocated already: the pool may be exceeded.
    pub fn grow(&self, bytes: usize) {
        self.reservation.grow(bytes);
    }

    /// The reserved bytes.
    pub fn bytes(&self) -> usize {
        self.reservation.size()
    }

    /// An empty reservation of the same holder.
    #[must_use]
    pub fn another(&self) -> Self {
        Self { reservation: self.reservation.new_empty() }
    }
}
