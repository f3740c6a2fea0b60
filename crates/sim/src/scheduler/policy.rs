//! Chooses the next task. A run has one of three policies, which find different faults.

use crate::random::Random;

/// Average number of steps between changes of priority.
const CHANGE: u64 = 150;

/// The policy of a run.
pub(super) enum Policy {
    /// Chooses any ready task.
    Uniform,
    /// Mostly chooses the same task again.
    Sticky {
        /// In this percentage of steps.
        percent: u64,
    },
    /// Chooses the task with the highest priority, and occasionally lowers that of the running task to the lowest.
    /// Finds faults that need a few switches at certain places and none elsewhere (PCT).
    Priorities { by_task: Vec<u64>, lowest: u64 },
}

impl Policy {
    pub(super) fn new(random: &mut Random) -> Self {
        match random.below(4) {
            0 => Self::Uniform,
            1 => Self::Sticky { percent: 60 + random.below(38) },
            _ => Self::Priorities { by_task: Vec::new(), lowest: 1 << 40 },
        }
    }

    /// Adds a task.
    pub(super) fn add(&mut self, random: &mut Random) {
        if let Self::Priorities { by_task, .. } = self {
            by_task.push((1 << 40) + random.below(1 << 40));
        }
    }

    /// Gives `task` the lowest priority, because it waits for progress of another task.
    pub(super) fn steps_back(&mut self, task: usize) {
        if let Self::Priorities { by_task, lowest } = self
            && let Some(priority) = by_task.get_mut(task)
        {
            *lowest -= 1;
            *priority = *lowest;
        }
    }

    /// Chooses one of `ready`, which must not be empty. `before` had the turn.
    pub(super) fn choose(&mut self, ready: &[usize], before: usize, random: &mut Random) -> Option<usize> {
        let change = random.below(CHANGE) == 0;
        match self {
            Self::Sticky { percent } if ready.contains(&before) && random.percent(*percent) => Some(before),
            Self::Uniform | Self::Sticky { .. } => ready.get(random.below(ready.len() as u64) as usize).copied(),
            Self::Priorities { .. } => {
                if change {
                    self.steps_back(before);
                }
                let Self::Priorities { by_task, .. } = self else { return None };
                ready.iter().copied().max_by_key(|task| by_task.get(*task))
            }
        }
    }
}
