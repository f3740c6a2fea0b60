//! The memory of a load's buffers: reserved as they grow, and released as they are written.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use store::LoadMemory;

/// Granularity of the reservation.
const STEP: usize = 256 << 10;

/// The reservation for all buffers of a load.
#[derive(Default)]
pub(super) struct Memory {
    /// The memory limit; `None` is unlimited.
    source: Option<Arc<dyn LoadMemory>>,
    granted: usize,
}

impl Memory {
    pub(super) fn of(source: Arc<dyn LoadMemory>) -> Self {
        Self { source: Some(source), granted: 0 }
    }

    /// Changes the reservation to `bytes`. Returns false if that exceeds the limit.
    pub(super) fn hold(&mut self, bytes: usize) -> bool {
        let Some(source) = &self.source else { return true };
        let wanted = bytes.next_multiple_of(STEP);
        if wanted != self.granted {
            if !source.hold(wanted) {
                return false;
            }
            self.granted = wanted;
        }
        true
    }
}

/// Bytes of a table's rows that threads are writing.
#[derive(Clone, Default)]
pub(super) struct InFlight(Arc<AtomicUsize>);

/// A share of [`InFlight`], subtracted on drop.
pub(super) struct InFlightBytes {
    all: InFlight,
    bytes: usize,
}

impl InFlight {
    /// Adds `bytes`.
    pub(super) fn add(&self, bytes: usize) -> InFlightBytes {
        self.0.fetch_add(bytes, Ordering::Relaxed);
        InFlightBytes { all: self.clone(), bytes }
    }

    pub(super) fn bytes(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for InFlightBytes {
    fn drop(&mut self) {
        self.all.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
