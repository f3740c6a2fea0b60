//! At random points of a recorded run the power goes: what is left must hold all that was acknowledged.

use crate::workload::{self, FAMILY, LOAD_ROWS, LOADED, TABLES, WIDTH};
use bennu_sim::power_loss::{Disk, Event, Log, Shim, Unsynced};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use store::*;
use store_fjall::FjallStore;

const POINTS: usize = 1_000;
const BATCHES: u64 = 1_500;

/// Not a test of its own: the recorded process is this test, started with a folder in the environment.
#[test]
fn child_that_is_recorded() {
    if let Some(folder) = std::env::var_os("POWER_LOSS_CHILD") {
        workload::run(Path::new(&folder), BATCHES);
    }
}

struct Recording {
    root: PathBuf,
    log: Log,
    _folder: tempfile::TempDir,
}

fn record() -> Recording {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    let (root, log) = (base.join("root"), base.join("log"));
    std::fs::create_dir(&root).unwrap();
    let shim = Shim::compile(&base).expect("a C compiler is needed");
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "power_loss::child_that_is_recorded"]).env("POWER_LOSS_CHILD", &root);
    shim.preload(&mut child, &root, &log);
    let output = child.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let log = Log::parse(&std::fs::read(log).unwrap()).unwrap();
    Recording { root, log, _folder: folder }
}

/// A small generator: the points depend on the seed alone.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

fn points(events: usize, count: usize, seed: u64) -> BTreeSet<usize> {
    let mut random = Random(seed);
    let mut points = BTreeSet::new();
    while points.len() < count.min(events / 2) {
        points.insert(random.next() as usize % events);
    }
    points
}

/// What was acknowledged when the power went.
fn acknowledged(disk: &Disk, root: &Path) -> Vec<String> {
    let bytes = disk.read(&root.join("acks")).unwrap_or_default();
    let text = String::from_utf8(bytes).unwrap();
    // A line without its end was not handed over yet.
    text.split_inclusive('\n').filter_map(|l| l.strip_suffix('\n')).map(Into::into).collect()
}

async fn rows(store: &FjallStore, table: TableId) -> Result<BTreeMap<Vec<u8>, Vec<u8>>, String> {
    let snapshot = store.snapshot(CommitNo(0)).await.map_err(|e| e.to_string())?;
    let request = ScanRequest::new(table, FAMILY, vec![KeyRange::all()]);
    let mut scan = store.scan(request, &snapshot).await.map_err(|e| e.to_string())?;
    let mut rows = BTreeMap::new();
    while let Some(batch) = scan.next().await.map_err(|e| e.to_string())? {
        rows.extend(batch.keys().map(<[u8]>::to_vec).zip(batch.fragments().map(<[u8]>::to_vec)));
    }
    Ok(rows)
}

/// Opens what was left and compares. The error says what is lost or torn.
async fn verify(folder: &Path, acks: &[String]) -> Result<(), String> {
    if acks.is_empty() && !folder.join("data").exists() {
        return Ok(());
    }
    let store = FjallStore::open(folder.join("data"), workload::options()).map_err(|e| format!("open: {e}"))?;
    let done = verify_open(&store, acks).await;
    store.close().await.map_err(|e| format!("close: {e}"))?;
    done
}

async fn verify_open(store: &FjallStore, acks: &[String]) -> Result<(), String> {
    if store.regions(TABLES[0]).await.is_err() {
        return if acks.is_empty() { Ok(()) } else { Err("the tables are gone".into()) };
    }
    let batches = acks.iter().filter_map(|a| a.strip_prefix("batch ")).map(|n| n.parse::<u64>().unwrap());
    let batches: BTreeSet<u64> = batches.collect();
    let contents = [rows(store, TABLES[0]).await?, rows(store, TABLES[1]).await?];
    if contents[0].keys().ne(contents[1].keys()) {
        return Err("a batch is in one table and not in the other".into());
    }
    let mut found: BTreeMap<u64, u64> = BTreeMap::new();
    for (key, fragment) in &contents[0] {
        let (batch, part) = split(key);
        if workload::batch_of(fragment, part) != Some(batch) {
            return Err(format!("row {batch}/{part} has another content"));
        }
        *found.entry(batch).or_default() += 1;
    }
    if let Some((batch, count)) = found.iter().find(|(_, count)| **count != WIDTH) {
        return Err(format!("batch {batch} is torn: {count} of {WIDTH} rows"));
    }
    if let Some(batch) = batches.iter().find(|b| !found.contains_key(b)) {
        return Err(format!("acknowledged batch {batch} is lost"));
    }
    verify_loads(store, acks).await
}

async fn verify_loads(store: &FjallStore, acks: &[String]) -> Result<(), String> {
    for table in LOADED {
        let rows = rows(store, table).await?;
        for half in 0..2 {
            let count = rows.keys().filter(|k| split(k).0 % 2 == half).count() as u64;
            let acked = acks.contains(&format!("load {} {half}", table.0));
            if count != LOAD_ROWS && (acked || count != 0) {
                let what = if acked { "acknowledged" } else { "unfinished" };
                return Err(format!("{what} load {half} of {table}: {count} of {LOAD_ROWS} rows"));
            }
        }
        if let Some(key) = rows.iter().find(|(k, f)| workload::batch_of(f, 0) != Some(split(k).0)).map(|r| r.0) {
            return Err(format!("loaded row {:?} has another content", split(key)));
        }
    }
    Ok(())
}

fn split(key: &[u8]) -> (u64, u64) {
    let number = |range: std::ops::Range<usize>| u64::from_be_bytes(key[range].try_into().unwrap());
    (number(0..8), number(8..16))
}

/// Where syncs cost nothing, if there is such a place: what is opened here needs none.
fn folder_in_memory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Goes through the recording once and lets the power go at each of `points`. Returns what was found wrong.
fn lose_power(
    recording: &Recording,
    mut disk: Disk,
    points: &BTreeSet<usize>,
    torn: bool,
    enough: usize,
) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let mut wrong = Vec::new();
    let mut random = Random(0x5eed);
    for (at, event) in recording.log.events.iter().enumerate() {
        disk.apply(event);
        if !points.contains(&at) {
            continue;
        }
        let left = folder_in_memory();
        // How much of the unsynced is left differs from point to point.
        let luck = random.next() % 100;
        let mut lucky = || random.next() % 100 < luck;
        let unsynced = if torn { Unsynced::Torn(&mut lucky) } else { Unsynced::Lost };
        disk.store(left.path(), unsynced).unwrap();
        let acks = acknowledged(&disk, &recording.root);
        if let Err(error) = runtime.block_on(verify(left.path(), &acks)) {
            wrong.push(format!("event {at} ({} acknowledged): {error}", acks.len()));
            if wrong.len() >= enough {
                break;
            }
        }
    }
    wrong
}

#[test]
fn every_acknowledged_write_survives_power_loss() {
    let recording = record();
    let mut whole = Disk::new(&recording.root);
    recording.log.events.iter().for_each(|e| whole.apply(e));
    nothing_was_missed(&whole, &recording.root);
    let batches = acknowledged(&whole, &recording.root).iter().filter(|a| a.starts_with("batch")).count();
    assert_eq!(batches as u64, BATCHES);

    let events = recording.log.events.len();
    let wrong = lose_power(&recording, Disk::new(&recording.root), &points(events, POINTS, 1), false, 5);
    assert!(wrong.is_empty(), "{wrong:#?}");
    let wrong = lose_power(&recording, Disk::new(&recording.root), &points(events, POINTS / 4, 2), true, 5);
    assert!(wrong.is_empty(), "{wrong:#?}");

    // The test can fail: without the syncs of one kind of file it does.
    for (what, skip) in left_out(&recording) {
        let disk = Disk::new(&recording.root).without_syncs_of(skip);
        let wrong = lose_power(&recording, disk, &points(events, 60, 3), false, 1);
        assert!(!wrong.is_empty(), "leaving out the syncs of {what} was not noticed");
    }
}

/// The simulated folder equals the real one: no call that changes files went by unseen.
fn nothing_was_missed(disk: &Disk, root: &Path) {
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

type Skip = Box<dyn Fn(&Path) -> bool>;

/// The kinds of files whose syncs matter, found in the recording itself.
fn left_out(recording: &Recording) -> Vec<(&'static str, Skip)> {
    let synced = |wanted: fn(&Path) -> bool| {
        recording.log.events.iter().any(|e| matches!(e, Event::Open { path, .. } if wanted(path)))
    };
    let journal: fn(&Path) -> bool = |p| p.extension().is_some_and(|e| e == "jnl");
    let table: fn(&Path) -> bool = |p| p.parent().is_some_and(|d| d.ends_with("tables"));
    assert!(synced(journal) && synced(table), "the store's files have other names now");
    vec![("the journal", Box::new(journal)), ("data files", Box::new(table))]
}
