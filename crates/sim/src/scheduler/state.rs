//! The shared state of a run: the tasks, the time, and the choice of the next task.

use super::place::Place;
use super::policy::Policy;
use super::trace::Trace;
use crate::random::Random;
use parking_lot::Condvar;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

/// Simulated time after which a task that waits for another counts as blocked forever.
const PATIENCE: Duration = Duration::from_secs(60);
/// Maximum number of steps; a longer run is assumed to be a livelock.
const MOST_STEPS: u64 = 3_000_000;

/// What a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum On {
    /// A lock or a condition variable, by its address.
    Address(usize),
    /// The end of a task.
    Task(usize),
    /// A waker of this task.
    Wake(usize),
    /// Only a timeout.
    Time,
}

pub(super) enum Status {
    Ready,
    Waiting { on: On, until: Option<u64>, since: u64, place: Place },
    Done,
}

pub(super) struct Task {
    name: String,
    /// A background task, which may wait forever as long as no task waits for it.
    serves: bool,
    pub(super) status: Status,
    pub(super) turn: Arc<Condvar>,
}

/// The shared state. Locked briefly only.
pub(super) struct State {
    pub(super) tasks: Vec<Task>,
    /// The task that has the turn.
    pub(super) running: usize,
    /// Nanoseconds since the run began.
    pub(super) now: u64,
    /// Maximum nanoseconds per step.
    tempo: u64,
    /// One in this many steps takes long.
    stalls: u64,
    pub(super) random: Random,
    pub(super) policy: Policy,
    pub(super) trace: Trace,
    pub(super) left_out: Option<&'static str>,
    pub(super) failure: Option<String>,
    pub(super) ended: bool,
}

impl State {
    pub(super) fn new(seed: u64, left_out: Option<&'static str>) -> Self {
        let mut random = Random::new(seed);
        let policy = Policy::new(&mut random);
        let tempo = [2_000, 20_000, 200_000, 2_000_000].get(random.below(4) as usize).copied().unwrap_or(1);
        let stalls = [200, 1_000, u64::MAX].get(random.below(3) as usize).copied().unwrap_or(u64::MAX);
        Self {
            stalls,
            tasks: Vec::new(),
            running: 0,
            now: 0,
            tempo,
            random,
            policy,
            trace: Trace::new(),
            left_out,
            failure: None,
            ended: false,
        }
    }

    /// Returns the duration of this step if it takes long: from microseconds to a second.
    pub(super) fn stall(&mut self) -> Option<Duration> {
        let stalls = self.stalls;
        (self.random.below(stalls) == 0).then(|| Duration::from_nanos(1_000 << self.random.below(21)))
    }

    pub(super) fn add(&mut self, name: &str, serves: bool) -> usize {
        self.policy.add(&mut self.random);
        let turn = Arc::new(Condvar::new());
        self.tasks.push(Task { name: name.to_owned(), serves, status: Status::Ready, turn });
        self.tasks.len() - 1
    }

    pub(super) fn set(&mut self, task: usize, status: Status) {
        if let Some(task) = self.tasks.get_mut(task) {
            task.status = status;
        }
    }

    pub(super) fn name(&self, task: usize) -> String {
        self.tasks.get(task).map(|task| task.name.clone()).unwrap_or_default()
    }

    pub(super) fn come(&mut self, on: On, one: bool) {
        let waits = |task: &Task| matches!(task.status, Status::Waiting { on: other, .. } if other == on);
        let waiting: Vec<usize> = (0..self.tasks.len()).filter(|at| self.tasks.get(*at).is_some_and(waits)).collect();
        let chosen = self.random.below(waiting.len() as u64) as usize;
        for (at, task) in waiting.into_iter().enumerate() {
            if !one || at == chosen {
                self.set(task, Status::Ready);
            }
        }
    }

    /// Chooses the next task; `None` if all have ended.
    pub(super) fn next(&mut self) -> Result<Option<usize>, String> {
        if self.trace.steps() > MOST_STEPS {
            return Err(format!("no end after {MOST_STEPS} steps"));
        }
        let tempo = self.tempo;
        self.now += self.random.below(tempo);
        loop {
            self.awake();
            let ready: Vec<usize> = self.those(|status| matches!(status, Status::Ready));
            if !ready.is_empty() {
                return Ok(self.policy.choose(&ready, self.running, &mut self.random));
            }
            if self.those(|status| !matches!(status, Status::Done)).is_empty() {
                return Ok(None);
            }
            let moments = self.tasks.iter().filter_map(|task| match task.status {
                Status::Waiting { until, .. } => until,
                Status::Ready | Status::Done => None,
            });
            let Some(moment) = moments.min() else { return Err("nobody can go on".to_owned()) };
            self.now = self.now.max(moment);
            self.check_timeouts()?;
        }
    }

    pub(super) fn those(&self, wanted: impl Fn(&Status) -> bool) -> Vec<usize> {
        self.tasks.iter().enumerate().filter(|(_, task)| wanted(&task.status)).map(|(at, _)| at).collect()
    }

    /// Readies the tasks whose timeout has passed.
    fn awake(&mut self) {
        let now = self.now;
        for task in self.those(|status| matches!(status, Status::Waiting { until: Some(until), .. } if *until <= now)) {
            self.set(task, Status::Ready);
        }
    }

    fn check_timeouts(&self) -> Result<(), String> {
        for task in self.tasks.iter().filter(|task| !task.serves) {
            if let Status::Waiting { on, since, .. } = task.status
                && on != On::Time
                && u128::from(self.now.saturating_sub(since)) > PATIENCE.as_nanos()
            {
                return Err(format!("{} waits for ever", task.name));
            }
        }
        Ok(())
    }

    pub(super) fn tell(&self) -> String {
        let mut told = String::from("tasks:\n");
        for task in &self.tasks {
            match &task.status {
                Status::Done => {}
                Status::Ready => drop(writeln!(told, "  {} is ready", task.name)),
                Status::Waiting { on, place, since, .. } => {
                    let since = Duration::from_nanos(*since);
                    let _ = writeln!(told, "  {} waits for {on:?} since {since:?}: {place}", task.name);
                }
            }
        }
        let names: Vec<String> = self.tasks.iter().map(|task| task.name.clone()).collect();
        told + "last steps:\n" + &self.trace.tell(&names)
    }
}
