//! The memory of a load's buffers: asked for as they grow, and given back as they are written.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use store::LoadMemory;

/// It is asked for in such steps.
const STEP: usize = 256 << 10;

/// What all buffers of a load hold.
#[derive(Default)]
pub(super) struct Memory {
    /// Without one there is as much as anybody wants.
    source: Option<Arc<dyn LoadMemory>>,
    granted: usize,
}

impl Memory {
    pub(super) fn of(source: Arc<dyn LoadMemory>) -> Self {
        Self { source: Some(source), granted: 0 }
    }

    /// Holds so many bytes from now on. False: there are not so many.
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

/// Bytes of a table's rows that a thread is writing.
#[derive(Clone, Default)]
pub(super) struct InFlight(Arc<AtomicUsize>);

/// Some of them, until this is dropped.
pub(super) struct Flying {
    all: InFlight,
    bytes: usize,
}

impl InFlight {
    /// So many more.
    pub(super) fn add(&self, bytes: usize) -> Flying {
        self.0.fetch_add(bytes, Ordering::Relaxed);
        Flying { all: self.clone(), bytes }
    }

    pub(super) fn bytes(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for Flying {
    fn drop(&mut self) {
        self.all.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
