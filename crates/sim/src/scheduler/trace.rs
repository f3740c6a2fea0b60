//! The trace of a run: a hash of all steps, and the last steps as text.

use super::place::Place;
use std::collections::VecDeque;
use std::fmt::Write;
use std::time::Duration;

/// Number of steps that are printed when a run fails.
const TOLD: usize = 60;

/// The steps of a run.
pub(super) struct Trace {
    hash: u64,
    steps: u64,
    last: VecDeque<(usize, Place, u64)>,
}

impl Trace {
    pub(super) fn new() -> Self {
        Self { hash: 0xCBF2_9CE4_8422_2325, steps: 0, last: VecDeque::with_capacity(TOLD) }
    }

    /// Records a step of a task.
    pub(super) fn step(&mut self, task: usize, place: Place, now: u64) {
        self.steps += 1;
        self.add(task as u64);
        self.add(now);
        self.add(u64::from(place.at.line()));
        place.kind.bytes().chain(place.at.file().bytes()).for_each(|byte| self.add(byte.into()));
        if self.last.len() == TOLD {
            self.last.pop_front();
        }
        self.last.push_back((task, place, now));
    }

    /// Adds a further value that must be equal in a repeated run.
    pub(super) fn add(&mut self, found: u64) {
        self.hash = (self.hash ^ found).wrapping_mul(0x0100_0000_01B3);
        self.hash ^= self.hash >> 29;
    }

    pub(super) fn hash(&self) -> u64 {
        self.hash
    }

    pub(super) fn steps(&self) -> u64 {
        self.steps
    }

    /// The last steps, one per line.
    pub(super) fn tell(&self, names: &[String]) -> String {
        let mut told = String::new();
        for (task, place, now) in &self.last {
            let name = names.get(*task).map_or("?", String::as_str);
            let _ = writeln!(told, "  {:?} {name}: {place}", Duration::from_nanos(*now));
        }
        told
    }
}
