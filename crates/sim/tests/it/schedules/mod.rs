//! Several clients on one store under the scheduler: acknowledged commits, snapshots, and the content after each end
//! are compared with a ledger. `docs/architecture/scheduler.md` explains how to examine a seed.
//!
//! Runs `BENNU_SIM_SCHEDULES` seeds from `BENNU_SIM_SEED`.

mod acts;
mod client;
mod ends;
mod ledger;
mod life;
mod power;
mod reading;
mod tables;

use crate::random::{seed, setting};
use bennu_sim::scheduler::{Ended, Failure, Settings, run};
use life::{End, Lives};
use std::collections::BTreeSet;
use std::ops::AddAssign;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

const LIVES: Lives = Lives { count: 3, acts: 14, end: None };

/// How often each tested situation occurred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reached {
    large: u64,
    refused_conditions: u64,
    loads: u64,
    refused_loads: u64,
    drops: u64,
    flushes: u64,
    cancelled: u64,
    too_old: u64,
    kills: u64,
}

impl Reached {
    fn is_all(&self) -> bool {
        let each = [self.large, self.refused_conditions, self.loads, self.refused_loads, self.drops];
        let others = [self.flushes, self.cancelled, self.too_old, self.kills];
        each.into_iter().chain(others).all(|count| count > 0)
    }
}

impl AddAssign for Reached {
    fn add_assign(&mut self, other: Self) {
        self.large += other.large;
        self.refused_conditions += other.refused_conditions;
        self.loads += other.loads;
        self.refused_loads += other.refused_loads;
        self.drops += other.drops;
        self.flushes += other.flushes;
        self.cancelled += other.cancelled;
        self.too_old += other.too_old;
        self.kills += other.kills;
    }
}

fn schedule(seed: u64, lives: Lives, left_out: Option<&'static str>) -> Result<Ended<Reached>, Failure> {
    run(Settings { seed, left_out }, move || life::lives(lives))
}

/// Runs the seeds from `first` until one fails. Returns the counters.
fn schedules(first: u64, count: u64, lives: Lives, left_out: Option<&'static str>) -> Result<Reached, String> {
    let (next, reached, failed) = (AtomicU64::new(0), Mutex::new(Reached::default()), Mutex::new(None));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while failed.lock().unwrap().is_none() {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= count {
                        return;
                    }
                    let seed = first.wrapping_mul(1_000_003).wrapping_add(at);
                    match schedule(seed, lives, left_out) {
                        Ok(ended) => *reached.lock().unwrap() += ended.value,
                        Err(failure) => drop(failed.lock().unwrap().insert(format!("seed {seed}: {failure}"))),
                    }
                }
            });
        }
    });
    match failed.into_inner().unwrap() {
        Some(failure) => Err(failure),
        None => Ok(reached.into_inner().unwrap()),
    }
}

#[test]
fn whatever_the_order_what_is_acknowledged_is_kept_and_what_is_shown_was_so() {
    let (first, count) = (seed("schedules"), setting("BENNU_SIM_SCHEDULES", 150));
    let reached = schedules(first, count, LIVES, None).unwrap_or_else(|failure| panic!("{failure}"));
    println!("{reached:?}");
    assert!(reached.is_all(), "{reached:?}");
}

/// `BENNU_SIM_SCHEDULE=1000003` runs only this seed, twice.
#[test]
fn the_same_seed_gives_the_same_run_and_another_seed_another() {
    let mut traces = BTreeSet::new();
    let seeds = match setting("BENNU_SIM_SCHEDULE", 0) {
        0 => 1..9,
        one => one..one + 1,
    };
    for seed in seeds {
        let once = schedule(seed, LIVES, None).unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
        let again = schedule(seed, LIVES, None).unwrap_or_else(|failure| panic!("seed {seed} again: {failure}"));
        assert_eq!(once, again, "seed {seed}");
        println!("seed {seed}: {} steps, trace {:x}", once.steps, once.trace);
        assert!(traces.insert(once.trace), "seed {seed} gives the run of another one");
    }
}

/// Parts of the store that are disabled one at a time.
const PARTS: [&str; 7] = [
    "the end of commits in close",
    "the sync before a commit is shown",
    "the write before a commit is acknowledged",
    "the write before a sync",
    "the reservation of commit numbers",
    "the fence of a load",
    "the commit lock of a refresh",
];

/// Checks that the test can fail.
#[test]
fn leaving_out_a_part_is_noticed() {
    for part in PARTS {
        let lives = match part.contains("close") {
            true => Lives { count: 8, acts: 5, end: Some(End::ClosedBeside) },
            false => LIVES,
        };
        match schedules(1, 1_500, lives, Some(part)) {
            Ok(_) => panic!("leaving out {part} was not noticed"),
            Err(noticed) => println!("without {part}: {}", noticed.lines().next().unwrap()),
        }
    }
}

/// Code that waits or reads the clock without the seam would block a run or make it irreproducible.
#[test]
fn the_store_reaches_threads_time_and_syncs_through_its_seam_only() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../store-fjall/src");
    let past = ["parking_lot", "std::thread::", "tokio::task::spawn", "tokio::time", ".sync_all()", ".sync_data()"];
    let (mut left, mut wrong, mut files) = (vec![source.clone()], Vec::new(), 0);
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.extend((path != source.join("seam") && path != source.join("read")).then_some(path));
                continue;
            }
            files += 1;
            let text = std::fs::read_to_string(&path).unwrap();
            let text = text.split("#[cfg(test)]").next().unwrap();
            let told =
                |line: &str| past.iter().any(|way| line.contains(way)) && !line.contains("available_parallelism");
            let clock = |line: &str| line.starts_with("use std::time") && line.contains("Instant");
            wrong.extend(text.lines().filter(|line| told(line) || clock(line)).map(|line| format!("{path:?}: {line}")));
        }
    }
    assert!(wrong.is_empty() && files > 40, "{files} files; {wrong:#?}");
}
