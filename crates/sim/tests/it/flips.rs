//! Flipped bits in every kind of file of a folder with known content: the store refuses the folder, reports the damage
//! on a read, or loses nothing. Never a wrong row, a crash or a hang.
//!
//! `BENNU_SIM_FLIPS` flips in two folders, one closed and one of a killed process. They run in a child process, so that
//! a crash can be reported.

use crate::folder::{self, Image, Sparse};
use crate::history::{self, Ending, Ledger, Rows, Step};
use crate::random::{Random, seed, setting};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;
use store::Store;
use store_fjall::FjallStore;

const CHILD: &str = "BENNU_SIM_FLIPS_CHILD";
/// A flip that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(120);
/// The number of flips in `make test`.
const FLIPS: u64 = 240;

/// The folders and their content.
struct Known {
    images: [Image; 2],
    ledgers: [Ledger; 2],
}

/// A table in the shared keyspace, one in an own keyspace with flushed rows and an append, and rows in memtables.
fn steps() -> Vec<Step> {
    let write = |table: u32, numbers: std::ops::Range<u64>| {
        let puts = numbers.map(|number| (table, number)).collect();
        Step::Write { puts, deletes: vec![(table, 1)], synced: true }
    };
    let load = |table, first| {
        let rows = Rows { first, stride: 1, count: 120, sorted: true };
        Step::Load { table, beside: vec![], rows, replace: false, ending: Ending::Finish }
    };
    vec![
        Step::Create { table: 1, families: 1 },
        Step::Create { table: 2, families: 2 },
        Step::Create { table: 3, families: 1 },
        write(1, 0..40),
        load(2, 0),
        write(2, 50..60),
        Step::Flush { table: 1, major: false },
        load(3, 0),
        load(3, 1_000),
        Step::Drop { table: 1 },
        Step::Create { table: 4, families: 1 },
        write(4, 0..30),
        write(3, 500..520),
        Step::Flush { table: 3, major: true },
        write(4, 30..60),
        write(3, 600..620),
    ]
}

async fn known() -> Known {
    let folder = folder::in_memory();
    // Only explicit flushes; all other rows are in the journal only.
    let (idle_flush, large_commit_bytes) = (Duration::from_secs(600), usize::MAX);
    let options = store_fjall::Options { idle_flush, large_commit_bytes, ..history::options() };
    let options = store_fjall::Options { memtable_entries: 1 << 20, ..options };
    let store = FjallStore::open(folder.path(), options).unwrap();
    let mut ledger = Ledger::new(1);
    for step in steps() {
        history::perform(&store, &ledger, &step).await.unwrap();
        ledger.take(&step);
    }
    // Waits until the watermark covers the journal, because batches after the watermark may be lost.
    tokio::time::sleep(Duration::from_millis(2_300)).await;
    let killed = folder::image(folder.path());
    store.close().await.unwrap();
    drop(store);
    let closed = folder::image(folder.path());
    Known { images: [closed, killed], ledgers: [ledger.clone(), ledger] }
}

/// One bit of one file.
#[derive(Clone, Debug)]
struct Flip {
    image: usize,
    path: PathBuf,
    at: u64,
    bit: u8,
}

/// Chooses equally many flips for each kind of file, at random within a kind.
fn choose(known: &Known, count: u64, random: &mut Random) -> Vec<Flip> {
    let mut kinds: BTreeMap<String, Vec<(usize, &PathBuf, &Sparse)>> = BTreeMap::new();
    for (number, image) in known.images.iter().enumerate() {
        for (path, file) in image {
            let Some(file) = file.as_ref().filter(|file| written(file) > 0) else { continue };
            kinds.entry(kind(path)).or_default().push((number, path, file));
        }
    }
    println!("kinds of files: {:?}", kinds.keys());
    let kinds: Vec<_> = kinds.into_values().collect();
    let mut flips = Vec::new();
    for at in 0..count {
        let files = &kinds[(at % kinds.len() as u64) as usize];
        let (image, path, file) = files[random.below(files.len() as u64) as usize];
        let at = random.below(written(file));
        flips.push(Flip { image, path: path.clone(), at, bit: random.below(8) as u8 });
    }
    flips
}

/// The name without digits, so that all journals are of one kind.
fn kind(path: &Path) -> String {
    let name = path.to_string_lossy();
    let mut kind = String::new();
    for letter in name.chars() {
        match letter {
            '0'..='9' if kind.ends_with('#') => {}
            '0'..='9' => kind.push('#'),
            other => kind.push(other),
        }
    }
    kind
}

/// Length without trailing zeros.
fn written(file: &Sparse) -> u64 {
    let end = |(at, data): (&u64, &Vec<u8>)| {
        let last = data.iter().rposition(|byte| *byte != 0)?;
        Some(at + last as u64 + 1)
    };
    file.data.iter().rev().find_map(end).unwrap_or(0)
}

fn flip(root: &Path, flip: &Flip) {
    use std::os::unix::fs::FileExt;
    let file = fs::File::options().read(true).write(true).open(root.join(&flip.path)).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, flip.at).unwrap();
    file.write_all_at(&[byte[0] ^ (1 << flip.bit)], flip.at).unwrap();
}

/// The outcome of a flip: refused, detected or harmless. Anything else panics.
async fn outcome(known: &Known, chosen: &Flip) -> &'static str {
    let root = folder::in_memory();
    folder::store(&known.images[chosen.image], root.path());
    flip(root.path(), chosen);
    let store = match FjallStore::open(root.path(), history::options()) {
        Ok(store) => store,
        Err(error) => {
            println!("refused: {error}");
            // A second opening fails, too, and has deleted nothing.
            assert!(FjallStore::open(root.path(), history::options()).is_err(), "{chosen:?}: refused only once");
            flip(root.path(), chosen);
            let store = FjallStore::open(root.path(), history::options());
            let store = store.unwrap_or_else(|error| panic!("{chosen:?}: mended, and refused: {error}"));
            must_hold(known, chosen, &store).await;
            return "refused";
        }
    };
    match history::of_store(&store, |_| true).await {
        Ok(found) => {
            let difference = history::difference(&known.ledgers[chosen.image], &found);
            assert_eq!(difference, None, "{chosen:?}");
            "harmless"
        }
        Err(error) => {
            println!("detected: {error}");
            let report = store.check().await;
            assert!(
                report.is_ok_and(|report| !report.problems.is_empty()),
                "{chosen:?}: not found by a check: {error}"
            );
            "detected"
        }
    }
}

async fn must_hold(known: &Known, chosen: &Flip, store: &FjallStore) {
    let found = history::of_store(store, |_| true).await.unwrap_or_else(|error| panic!("{chosen:?}: mended: {error}"));
    assert_eq!(history::difference(&known.ledgers[chosen.image], &found), None, "{chosen:?}: mended");
}

/// Not a test by itself: run in the process that opens damaged folders.
#[test]
fn child_that_opens_damaged_folders() {
    let Ok(part) = std::env::var(CHILD) else { return };
    let (part, seed): (usize, u64) = (part.parse().unwrap(), setting("BENNU_SIM_SEED", 1));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let known = known().await;
        let flips = choose(&known, setting("BENNU_SIM_FLIPS", FLIPS), &mut Random::new(seed));
        let mut outcomes: BTreeMap<&str, u64> = BTreeMap::new();
        for chosen in flips.iter().skip(part).step_by(2) {
            println!("{chosen:?}");
            *outcomes.entry(outcome(&known, chosen).await).or_default() += 1;
        }
        println!("{outcomes:?}");
    });
}

/// Runs a child to its end. The error is its last output.
fn child(part: usize, seed: u64) -> Result<String, String> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "flips::child_that_opens_damaged_folders", "--nocapture"])
        .env(CHILD, part.to_string())
        .env("BENNU_SIM_SEED", seed.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (sender, lines) = mpsc::channel();
    let output = BufReader::new(child.stdout.take().unwrap());
    let reader =
        std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    let mut said = Vec::new();
    let hangs = loop {
        match lines.recv_timeout(PATIENCE) {
            Ok(line) => said.push(line),
            Err(mpsc::RecvTimeoutError::Disconnected) => break false,
            Err(mpsc::RecvTimeoutError::Timeout) => break true,
        }
    };
    if hangs {
        child.kill().unwrap();
    }
    let status = child.wait().unwrap();
    reader.join().unwrap().ok();
    let last = said[said.len().saturating_sub(12)..].join("\n");
    if hangs || !status.success() { Err(format!("{status}, hangs: {hangs}\n{last}")) } else { Ok(last) }
}

#[test]
fn a_flipped_bit_is_refused_detected_or_harmless() {
    let seed = seed("flips");
    let outcomes = std::thread::scope(|scope| {
        let parts = [0, 1].map(|part| scope.spawn(move || child(part, seed)));
        parts.map(|part| part.join().unwrap())
    });
    for outcome in outcomes {
        println!("{}", outcome.unwrap_or_else(|error| panic!("{error}")));
    }
}
