//! Power loss within a life under the scheduler. A process runs the life with its system calls recorded; the same seed
//! without recording gives the ledger. The folder at any event must have the state after some commit that is not before
//! the last one reported as durable. Also with another power loss during the following opening.

use super::ledger::Ledger;
use super::life::{self, End};
use crate::folder::{self, Image};
use crate::power_loss::nothing_was_missed;
use crate::random::{Random, seed, setting};
use bennu_sim::power_loss::{Disk, Log, Shim, Unsynced, record};
use bennu_sim::scheduler::{Failure, Settings, run};
use std::ffi::OsStr;
use std::fs::File;
use std::path::Path;

/// Acts of each client.
const ACTS: u64 = 14;
const CHILD: &str = "SCHEDULES_CHILD";
const OPENING_CHILD: &str = "SCHEDULES_OPENING_CHILD";
/// Points per life, and per opening.
const POINTS: u64 = 16;
/// At one in this many points power is lost again during the following opening.
const AGAIN: u64 = 12;

/// Not a test by itself: run in the recorded process.
#[test]
fn child_that_is_recorded() {
    if let Some(root) = std::env::var_os(CHILD) {
        let root = Path::new(&root).to_owned();
        let acks = File::options().create(true).append(true).open(root.join("acks")).unwrap();
        let (trace, _) = live(&root, setting("SCHEDULES_SEED", 0), left_out(), Some(acks)).unwrap();
        println!("trace {trace:x}");
    }
}

/// Not a test by itself: run in the recorded process that only opens the folder.
#[test]
fn child_that_opens() {
    if let Some(root) = std::env::var_os(OPENING_CHILD) {
        let root = Path::new(&root).to_owned();
        run(Settings { seed: 1, left_out: None }, move || life::found(&root)).unwrap().value.unwrap();
    }
}

/// The part that the environment disables.
fn left_out() -> Option<&'static str> {
    let part = std::env::var("SCHEDULES_LEFT_OUT").ok()?;
    PARTS.into_iter().find(|known| *known == part)
}

/// Parts that only matter for a power loss.
const PARTS: [&str; 1] = ["the sync before commits are called durable"];

fn live(
    parent: &Path,
    seed: u64,
    left_out: Option<&'static str>,
    acks: Option<File>,
) -> Result<(u64, Ledger), Failure> {
    let parent = parent.to_owned();
    let end = if seed.is_multiple_of(2) { End::Dropped } else { End::Closed };
    let ended = run(Settings { seed, left_out }, move || life::one(&parent, ACTS, end, acks))?;
    Ok((ended.trace, ended.value))
}

/// Runs a seed and loses power at some points. The error describes the loss.
fn lose_power(shim: &Shim, seed: u64, left_out: Option<&'static str>) -> Result<(), String> {
    let parent = folder::in_memory();
    let base = parent.path().canonicalize().unwrap();
    let (root, log, twin) = (base.join("root"), base.join("log"), base.join("twin"));
    std::fs::create_dir(&root).unwrap();
    std::fs::create_dir(&twin).unwrap();
    let (seed_told, left_out_told) = (seed.to_string(), left_out.unwrap_or_default());
    let variables: [(&str, &OsStr); 3] = [
        (CHILD, root.as_ref()),
        ("SCHEDULES_SEED", seed_told.as_ref()),
        ("SCHEDULES_LEFT_OUT", left_out_told.as_ref()),
    ];
    let output = record(shim, "schedules::power::child_that_is_recorded", &root, &log, variables).unwrap();
    let (trace, ledger) = live(&twin, seed, left_out, None).unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(told.contains(&format!("trace {trace:x}\n")), "the recorded run is another one: {told}");
    let log = Log::read(&log).unwrap();
    let mut random = Random::new(seed);
    let points: Vec<u64> = (0..POINTS).map(|_| random.below(log.events.len() as u64)).collect();
    let mut disk = Disk::new(&root);
    for (at, event) in log.events.iter().enumerate() {
        disk.apply(event);
        if points.contains(&(at as u64)) {
            let torn = random.percent(40);
            let acks = String::from_utf8(disk.read(&root.join("acks")).unwrap_or_default()).unwrap();
            let durable = acks.lines().map(|line| line.parse::<u64>().unwrap()).max().unwrap_or(0);
            let left = left(&disk, torn.then_some(&mut random));
            let image = folder::image(left.path());
            let mut lost = judge(left.path(), &ledger, durable, seed);
            if lost.is_ok() && random.below(AGAIN) == 0 {
                lost = lose_power_again(shim, &image, &ledger, durable, &mut random);
            }
            lost.map_err(|error| format!("seed {seed}, event {at}, torn {torn}: {error}"))?;
        }
    }
    nothing_was_missed(&disk, &root);
    Ok(())
}

/// The folder after a power loss.
fn left(disk: &Disk, torn: Option<&mut Random>) -> tempfile::TempDir {
    let left = folder::in_memory();
    match torn {
        None => disk.store(left.path(), Unsynced::Lost).unwrap(),
        Some(random) => {
            let luck = random.below(100);
            disk.store(left.path(), Unsynced::Torn(&mut || random.percent(luck))).unwrap();
        }
    }
    left
}

/// Opens the remaining folder and compares it with the ledger.
fn judge(left: &Path, ledger: &Ledger, durable: u64, seed: u64) -> Result<(), String> {
    let left = left.to_owned();
    let opened = run(Settings { seed, left_out: None }, move || life::found(&left)).map_err(|failure| failure.0)?;
    ledger.clone().left(durable, &opened.value?).map(drop)
}

/// Loses power again, during the opening of the remaining folder.
fn lose_power_again(
    shim: &Shim,
    image: &Image,
    ledger: &Ledger,
    durable: u64,
    random: &mut Random,
) -> Result<(), String> {
    let parent = folder::in_memory();
    let base = parent.path().canonicalize().unwrap();
    let (root, log) = (base.join("root"), base.join("log"));
    folder::store(image, &root);
    record(shim, "schedules::power::child_that_opens", &root, &log, [(OPENING_CHILD, &root)]).unwrap();
    let log = Log::read(&log).unwrap();
    let points: Vec<u64> = (0..POINTS).map(|_| random.below(log.events.len() as u64)).collect();
    let mut disk = Disk::new(&root);
    folder::events(image, &root).iter().for_each(|event| disk.apply(event));
    for (at, event) in log.events.iter().enumerate() {
        disk.apply(event);
        if points.contains(&(at as u64)) {
            let torn = random.percent(40);
            let left = left(&disk, torn.then_some(random));
            let lost = judge(left.path(), ledger, durable, at as u64);
            lost.map_err(|error| format!("and at event {at} of the opening, torn {torn}: {error}"))?;
        }
    }
    nothing_was_missed(&disk, &root);
    Ok(())
}

#[test]
fn what_is_durable_survives_losses_of_power_in_any_order_of_threads() {
    let (first, count) = (seed("schedules and power"), setting("BENNU_SIM_POWER_SCHEDULES", 12));
    let folder = folder::in_memory();
    let shim = Shim::compile(folder.path()).expect("a C compiler is needed");
    for at in 0..count {
        lose_power(&shim, first.wrapping_mul(1_000_003).wrapping_add(at), None).unwrap();
    }
}

/// Checks that the test can fail.
#[test]
fn leaving_out_a_sync_is_noticed() {
    let folder = folder::in_memory();
    let shim = Shim::compile(folder.path()).expect("a C compiler is needed");
    for part in PARTS {
        match (1..200).find_map(|seed| lose_power(&shim, seed, Some(part)).err()) {
            None => panic!("leaving out {part} was not noticed"),
            Some(noticed) => println!("without {part}: {}", noticed.lines().next().unwrap()),
        }
    }
}
