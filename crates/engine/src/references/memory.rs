//! The memory of noted checks: about two hundred bytes for each row that a statement writes.

use crate::error::EngineResult;
use query::{HeldMemory, Planner};
use std::sync::Arc;

/// Memory is reserved in steps of this size, so that short statements reserve none and long ones seldom. The pool never
/// refuses much smaller requests.
const STEP: usize = 256 << 10;

/// The memory of noted checks, reserved in the pool that queries share.
#[derive(Debug)]
pub(super) struct NotedMemory {
    planner: Arc<Planner>,
    bytes: usize,
    held: Option<HeldMemory>,
}

impl NotedMemory {
    pub(super) fn new(planner: &Arc<Planner>) -> Self {
        Self { planner: Arc::clone(planner), bytes: 0, held: None }
    }

    /// Counts checks of that many bytes.
    ///
    /// # Errors
    /// 53200.
    pub(super) fn add(&mut self, bytes: usize) -> EngineResult<()> {
        let all = self.bytes.saturating_add(bytes);
        if all >= self.held_bytes() + STEP {
            let held = self.held.get_or_insert_with(|| self.planner.hold("the rows of a statement"));
            held.try_grow(all.saturating_sub(held.bytes()))?;
        }
        self.bytes = all;
        Ok(())
    }

    /// Counts that many bytes less: their checks are dropped.
    pub(super) fn remove(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_sub(bytes);
        if let Some(held) = self.held.as_ref().filter(|held| held.bytes() > self.bytes) {
            // Shrinking cannot fail.
            let _ = held.try_resize(self.bytes);
        }
    }

    fn held_bytes(&self) -> usize {
        self.held.as_ref().map_or(0, HeldMemory::bytes)
    }
}
