//! Power loss at many points of recorded runs: the remaining folder must contain everything acknowledged.
//!
//! `BENNU_SIM_POWER_POINTS` points in addition to those of the start, in `BENNU_SIM_LIVES` consecutive processes, with
//! the seed `BENNU_SIM_SEED`.

mod child;
mod plan;
mod verdict;

use crate::folder;
use crate::random::{Random, seed, setting};
use bennu_sim::power_loss::{Disk, Event, Log, Recording, Unsynced};
use plan::Plan;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;
use verdict::{Acks, verify};

const ACTS_PER_LIFE: usize = 22;
const BATCHES_PER_LIFE: u64 = 60;
/// Points per kind of ignored sync: at least one must show the loss.
const LEFT_OUT_POINTS: usize = 150;

/// Number of consecutive processes.
fn lives() -> usize {
    setting("BENNU_SIM_LIVES", 6) as usize
}

fn plan(seed: u64) -> Plan {
    Plan::new(seed, lives(), ACTS_PER_LIFE, BATCHES_PER_LIFE)
}

/// Not a test by itself: run in the recorded process.
#[test]
fn child_that_is_recorded() {
    if let Some(root) = std::env::var_os("POWER_LOSS_CHILD") {
        let number = |name: &str| std::env::var(name).unwrap().parse::<u64>().unwrap();
        child::live(Path::new(&root), plan(number("POWER_LOSS_SEED")), number("POWER_LOSS_LIFE") as usize);
    }
}

struct Lives {
    recording: Recording,
    plan: Plan,
    /// Number of events before the first acknowledged write.
    first_moments: usize,
}

/// Runs all lives of a plan, one process each, and records their disk operations.
fn record(seed: u64) -> Lives {
    let lives = (0..lives()).map(|life| vec![variable("SEED", seed), variable("LIFE", life)]);
    let recording = Recording::of_lives("power_loss::child_that_is_recorded", "POWER_LOSS_CHILD", lives).unwrap();
    let first_moments = first_moments(&recording.log, &recording.root);
    Lives { recording, plan: plan(seed), first_moments }
}

fn variable(name: &str, value: impl ToString) -> (String, String) {
    (format!("POWER_LOSS_{name}"), value.to_string())
}

fn first_moments(log: &Log, root: &Path) -> usize {
    let mut disk = Disk::new(root);
    log.events
        .iter()
        .take_while(|event| {
            disk.apply(event);
            !acknowledged(&disk, root).tables
        })
        .count()
}

fn acknowledged(disk: &Disk, root: &Path) -> Acks {
    Acks::parse(&disk.read(&root.join("acks")).unwrap_or_default())
}

fn points(events: usize, count: usize, seed: u64) -> BTreeSet<usize> {
    let mut random = Random::new(seed);
    let mut points = BTreeSet::new();
    while points.len() < count.min(events) {
        points.insert(random.below(events as u64) as usize);
    }
    points
}

/// Replays the recording and loses power at each of `points`. Returns the problems found.
fn lose_power(
    lives: &Lives,
    disk: &(dyn Fn() -> Disk + Sync),
    points: &BTreeSet<usize>,
    torn: bool,
    enough: usize,
) -> Vec<String> {
    let wrong = Mutex::new(Vec::new());
    let points: Vec<usize> = points.iter().copied().collect();
    std::thread::scope(|scope| {
        for half in 0..2 {
            let points: BTreeSet<usize> = points.iter().skip(half).step_by(2).copied().collect();
            let wrong = &wrong;
            scope.spawn(move || {
                cut(lives, disk(), &points, torn, &|error| {
                    let mut wrong = wrong.lock().unwrap();
                    wrong.extend(error);
                    wrong.len() < enough
                })
            });
        }
    });
    wrong.into_inner().unwrap()
}

/// Replays the recording once. `go_on` gets the result of each point, and returns whether to continue.
fn cut(lives: &Lives, mut disk: Disk, points: &BTreeSet<usize>, torn: bool, go_on: &dyn Fn(Option<String>) -> bool) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    for (at, event) in lives.recording.log.events.iter().enumerate() {
        disk.apply(event);
        if !points.contains(&at) {
            continue;
        }
        let left = folder::in_memory();
        // The share of unsynced changes that survive differs between points.
        let mut random = Random::new(at as u64);
        let luck = random.below(100);
        let mut lucky = || random.percent(luck);
        let unsynced = if torn { Unsynced::Torn(&mut lucky) } else { Unsynced::Lost };
        disk.store(left.path(), unsynced).unwrap();
        let acks = acknowledged(&disk, &lives.recording.root);
        let verdict = runtime.block_on(verify(left.path(), &lives.plan, &acks));
        let wrong = verdict.err().map(|error| {
            format!(
                "event {at}, {} batches and {} acts acknowledged, torn {torn}: {error}",
                acks.batches.len(),
                acks.acts
            )
        });
        if !go_on(wrong) {
            return;
        }
    }
}

#[test]
fn every_acknowledged_write_survives_power_loss() {
    let (seed, count) = (seed("power loss"), setting("BENNU_SIM_POWER_POINTS", 1_000) as usize);
    let lives = record(seed);
    let (events, root) = (lives.recording.log.events.len(), lives.recording.root.clone());
    println!("{events} events, {} before the first acknowledgement", lives.first_moments);
    let mut whole = Disk::new(&root);
    lives.recording.log.events.iter().for_each(|event| whole.apply(event));
    nothing_was_missed(&whole, &root);
    everything_was_reached(&lives.recording);

    let disk = || Disk::new(&root);
    let first_moments: BTreeSet<usize> = (0..=lives.first_moments).collect();
    for (points, torn) in [
        (first_moments.clone(), false),
        (first_moments, true),
        (points(events, count, seed), false),
        (points(events, count / 4, !seed), true),
    ] {
        let wrong = lose_power(&lives, &disk, &points, torn, 5);
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}

/// Checks that the test can fail: it does without the syncs of any one kind of file or folder.
#[test]
fn leaving_out_any_kind_of_sync_is_noticed() {
    let seed = seed("power loss");
    let lives = record(seed);
    let points = points(lives.recording.log.events.len(), LEFT_OUT_POINTS, seed);
    for (what, kind) in KINDS {
        let synced = |event: &Event| matches!(event, Event::Open { path, .. } if kind(&lives.recording.root, path));
        assert!(lives.recording.log.events.iter().any(synced), "{what}: files have other names now");
        let root = lives.recording.root.clone();
        let disk = move || {
            let below = root.clone();
            Disk::new(&root).without_syncs_of(move |path| kind(&below, path))
        };
        let wrong = lose_power(&lives, &disk, &points, false, 1);
        assert!(!wrong.is_empty(), "leaving out the syncs of {what} was not noticed");
        println!("without the syncs of {what}: {}", wrong[0]);
    }
}

/// Whether a file or folder (the second path) is of a kind; the first path is the root.
type Kind = fn(&Path, &Path) -> bool;

/// The kinds of files and folders whose syncs are required.
const KINDS: [(&str, Kind); 13] = [
    ("the journal", |_, path| path.extension().is_some_and(|extension| extension == "jnl")),
    ("table files", |_, path| path.parent().is_some_and(|folder| folder.ends_with("tables"))),
    ("manifests", |_, path| in_keyspace(path) && name(path).starts_with('v')),
    ("`current`", |_, path| in_keyspace(path) && (name(path) == "current" || name(path).starts_with(".tmp"))),
    ("`version`", |_, path| path.ends_with("db/version")),
    ("the watermark", |_, path| name(path) == "watermark"),
    ("`STORE`", |_, path| name(path).starts_with("STORE")),
    ("folders above the store", |root, path| {
        path == root || child::data(root).parent().is_some_and(|deep| deep.starts_with(path))
    }),
    ("the store's folder", |root, path| path == child::data(root)),
    ("the database's folder", |_, path| name(path) == "db"),
    ("the folder of keyspaces", |_, path| name(path) == "keyspaces"),
    ("folders of keyspaces", |_, path| path.parent().is_some_and(|folder| name(folder) == "keyspaces")),
    ("folders of tables", |_, path| name(path) == "tables"),
];

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// Returns true for a file in the folder of a keyspace.
fn in_keyspace(path: &Path) -> bool {
    path.parent().and_then(Path::parent).is_some_and(|folder| name(folder) == "keyspaces") && name(path) != "tables"
}

/// Checks that the recording contains all relevant events.
fn everything_was_reached(recording: &Recording) {
    let events = &recording.log.events;
    let count = |wanted: &dyn Fn(&Event) -> bool| events.iter().filter(|event| wanted(event)).count();
    let tables = count(&|event| matches!(event, Event::Open { path, .. } if name(path.parent().unwrap()) == "tables"));
    let compacted = count(&|event| matches!(event, Event::Unlink { path } if name(path.parent().unwrap()) == "tables"));
    let keyspaces =
        count(&|event| matches!(event, Event::MakeFolder { path } if name(path.parent().unwrap()) == "keyspaces"));
    let deleted =
        count(&|event| matches!(event, Event::RemoveFolder { path } if name(path.parent().unwrap()) == "keyspaces"));
    let starts = count(&|event| matches!(event, Event::Start));
    println!("{tables} openings of tables, {compacted} removed; {keyspaces} keyspaces made, {deleted} removed");
    assert!(tables > 50 && compacted > 10 && keyspaces > 10 && deleted > 5 && starts == lives());
}

/// Checks that the simulated folder equals the real one, so that no changing call was missed.
pub(crate) fn nothing_was_missed(disk: &Disk, root: &Path) {
    let mut real = BTreeSet::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path.clone());
            }
            real.insert(path);
        }
    }
    for (path, bytes) in disk.entries().filter(|(path, _)| *path != root) {
        assert!(real.remove(path), "{} exists only in the simulation", path.display());
        if let Some(bytes) = bytes {
            assert!(std::fs::read(path).unwrap() == bytes, "{} differs from its simulation", path.display());
        }
    }
    assert!(real.is_empty(), "made unseen: {real:?}");
}
