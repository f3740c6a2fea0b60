//! Who is next. A run has one of three manners, which find different faults.

use crate::random::Random;

/// One in so many steps changes a priority.
const CHANGE: u64 = 150;

/// How a run chooses.
pub(super) enum Policy {
    /// Anybody.
    Uniform,
    /// Mostly whoever had the turn before.
    Sticky {
        /// In so many of 100 steps.
        percent: u64,
    },
    /// The one with the highest priority; now and then the one that has the turn gets the lowest. Faults that need a
    /// few switches at certain places, and none elsewhere, come up this way (PCT).
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

    /// A task was added.
    pub(super) fn add(&mut self, random: &mut Random) {
        if let Self::Priorities { by_task, .. } = self {
            by_task.push((1 << 40) + random.below(1 << 40));
        }
    }

    /// `task` has nothing to do before another one has done something.
    pub(super) fn steps_back(&mut self, task: usize) {
        if let Self::Priorities { by_task, lowest } = self
            && let Some(priority) = by_task.get_mut(task)
        {
            *lowest -= 1;
            *priority = *lowest;
        }
    }

    /// One of `ready`, which is not empty. `before` had the turn.
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
