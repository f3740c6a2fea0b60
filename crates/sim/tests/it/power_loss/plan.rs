//! The plan of the recorded processes, one after the other, and the expected content after each act.
//!
//! ```text
//!   life 0                          life 1                     life 2
//!   open, act 1 .. act k, close     open, act .. , killed      open, ...
//!   concurrent batches 0 .. b       batches b .. 2b            ...
//! ```
//! The seed determines the plan, so the test can compute it afterwards.

use crate::history::{Chooser, Ledger, Step};
use crate::random::Random;

/// Tables of the concurrent writers: each batch is in both.
pub(crate) const TABLES: [u32; 2] = [10, 11];
/// First table id of the history.
pub(crate) const FIRST_TABLE: u32 = 100;
/// Rows per batch and table.
pub(crate) const WIDTH: u64 = 3;
/// Step number of batch 0; batch `n` has this plus `n`.
pub(crate) const BATCH_STEP: u64 = 1 << 32;

/// The end of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Closed,
    Dropped,
    Killed,
}

/// One process.
#[derive(Debug)]
pub(crate) struct Life {
    /// Index of the first act; the acts end at the next life's first.
    pub(crate) first_act: usize,
    pub(crate) end: End,
}

/// The plan of all processes.
pub(crate) struct Plan {
    pub(crate) lives: Vec<Life>,
    pub(crate) acts: Vec<Step>,
    /// The ledger after each number of acts.
    pub(crate) ledgers: Vec<Ledger>,
    pub(crate) batches_per_life: u64,
}

impl Plan {
    pub(crate) fn new(seed: u64, lives: usize, acts_per_life: usize, batches_per_life: u64) -> Self {
        let (mut random, mut chooser) = (Random::new(!seed), Chooser::new(seed));
        let mut ledger = Ledger::new(FIRST_TABLE);
        let mut plan = Self { lives: Vec::new(), acts: Vec::new(), ledgers: vec![ledger.clone()], batches_per_life };
        for _ in 0..lives {
            let end = [End::Closed, End::Dropped, End::Killed][random.below(3) as usize];
            plan.lives.push(Life { first_act: plan.acts.len(), end });
            for at in 0..acts_per_life {
                let step = chooser.next(&ledger);
                let cut_off = at + 1 == acts_per_life && end == End::Killed && matches!(step, Step::Load { .. });
                if cut_off {
                    // The process ends before the load is finished.
                    ledger.step += 1;
                } else {
                    ledger.take(&step);
                }
                plan.acts.push(step);
                plan.ledgers.push(ledger.clone());
            }
        }
        plan
    }

    /// The acts of a life by index.
    pub(crate) fn acts_of(&self, life: usize) -> std::ops::Range<usize> {
        let end = self.lives.get(life + 1).map_or(self.acts.len(), |next| next.first_act);
        self.lives[life].first_act..end
    }

    /// The batches of a life.
    pub(crate) fn batches_of(&self, life: usize) -> std::ops::Range<u64> {
        let first = life as u64 * self.batches_per_life;
        first..first + self.batches_per_life
    }

    /// Returns true if this act is the last of its life, and a load that the kill interrupts.
    pub(crate) fn is_cut_off(&self, life: usize, act: usize) -> bool {
        let last = act + 1 == self.acts_of(life).end;
        last && self.lives[life].end == End::Killed && matches!(self.acts[act], Step::Load { .. })
    }

    /// Returns true if the acknowledgement of this act implies that everything before it is durable.
    pub(crate) fn is_durable(&self, act: usize) -> bool {
        match &self.acts[act] {
            Step::Create { .. } | Step::Drop { .. } | Step::Truncate { .. } => true,
            Step::Write { synced, .. } => *synced,
            // A refused load has synced nothing.
            Step::Load { .. } => self.ledgers[act].tables != self.ledgers[act + 1].tables,
            Step::Flush { .. } | Step::Pause => false,
        }
    }
}
