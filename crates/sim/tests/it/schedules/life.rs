//! The lives of a store in one run: concurrent clients, an end, and the content that the next life finds.

use super::Reached;
use super::client::{Client, LOADED, Shared};
use super::ledger::{Ledger, differs};
use super::reading::{self, Found};
use super::tables::Tables;
use crate::folder::{self, Image};
use bennu_sim::random::Random;
use bennu_sim::scheduler::{self, JoinHandle, block_on};
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use store::{Clock, CommitNo, Store, StoreError, Timestamp};
use store_fjall_sim::{DiskSpace, FjallStore, Options, Space};

/// The end of a life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Closed,
    /// Closed while clients are running.
    ClosedBeside,
    Dropped,
    /// Killed: everything written up to a point is left.
    Killed,
}

/// The simulated time of the run.
#[derive(Debug)]
struct RunClock;

impl Clock for RunClock {
    fn now(&self) -> Timestamp {
        Timestamp(1_700_000_000_000 + scheduler::now().as_millis() as u64)
    }
}

/// A disk with free space.
#[derive(Debug)]
struct Roomy;

impl DiskSpace for Roomy {
    fn space(&self, _: &Path) -> Option<Space> {
        Some(Space { free: 1 << 40, total: 1 << 40 })
    }
}

/// Thresholds so small that flushes, loads and large commits happen constantly.
pub(super) fn options() -> Options {
    Options {
        // Equal on every machine, so that seeds are reproducible.
        compaction_threads: 1,
        load_threads: 2,
        cache_bytes: 1 << 20,
        memtable_entries: 150,
        idle_flush: Duration::from_millis(300),
        snapshot_bytes: 64 << 10,
        snapshot_max_age: Duration::from_secs(1),
        buffered_sync_interval: Duration::from_millis(2),
        small_load_bytes: 1_500,
        load_buffer_bytes: 4_000,
        large_commit_bytes: 3_000,
        large_commit_rows: 3,
        write_permits: 3,
        clock: Arc::new(RunClock),
        disk: Arc::new(Roomy),
        ..Options::default()
    }
}

/// The expected state for the next life.
struct Left {
    ledger: Ledger,
    /// After a kill: the commit that must survive, with all before it.
    killed_at: Option<u64>,
    folder: PathBuf,
}

/// First table id. Ids are not reused.
const FIRST_TABLE: u32 = 10;

/// State shared by all lives.
struct History {
    /// Has a folder for each life.
    parent: PathBuf,
    random: Random,
    next_table: u32,
    tables_open: Vec<u32>,
    reached: Reached,
}

/// The parameters of the lives of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lives {
    pub(crate) count: u64,
    /// Acts of each client in each life.
    pub(crate) acts: u64,
    /// The end of each life; random if `None`.
    pub(crate) end: Option<End>,
}

/// Runs all lives. Must be called within a run.
pub(crate) fn lives(Lives { count, acts, end }: Lives) -> Reached {
    let parent = folder::in_memory();
    let mut history = History::new(parent.path());
    let ledger = Ledger::new(Tables::new(), 0, 1);
    let mut left = Left { ledger, killed_at: None, folder: history.folder(0) };
    for life in 0..count {
        let (store, ledger) = history.open(left);
        let ends = [End::Closed, End::ClosedBeside, End::Dropped, End::Killed];
        let end = end.unwrap_or(ends[history.random.below(4) as usize]);
        let (ledger, image) = history.live(store, ledger, life, acts, end);
        left = history.ended(ledger, image, life);
    }
    let (store, _) = history.open(left);
    block_on(reading::check(&store)).unwrap().unwrap();
    block_on(store.close()).unwrap().unwrap();
    history.reached
}

/// Runs a single life below `parent` and writes durable commits to `acks`. Must be called within a run.
pub(crate) fn one(parent: &Path, acts: u64, end: End, acks: Option<File>) -> Ledger {
    let mut history = History::new(parent);
    let store = open(&history.folder(0));
    let mut ledger = Ledger::new(Tables::new(), 0, 1);
    ledger.acks = acks.map(Arc::new);
    history.live(store, ledger, 0, acts, end).0
}

/// The content of a folder after an interrupted life of [`one`]. Must be called within a run.
///
/// # Errors
/// If the store cannot be opened or read.
pub(crate) fn found(parent: &Path) -> Result<Found, String> {
    let store = FjallStore::open(parent.join("0"), options()).map_err(|error| format!("opening: {error}"))?;
    let read = block_on(async {
        reading::check(&store).await?;
        reading::all(&store, FIRST_TABLE..FIRST_TABLE + 200).await
    });
    read.unwrap().map_err(|error| format!("reading: {error}"))
}

/// Opens a store. Cancelled work may hold the previous one a while longer.
fn open(folder: &Path) -> Arc<FjallStore> {
    for _ in 0..60 {
        match FjallStore::open(folder, options()) {
            Err(StoreError::Locked { .. }) => scheduler::sleep(Duration::from_secs(1)),
            opened => return opened.unwrap_or_else(|error| panic!("opening: {error}")),
        }
    }
    panic!("the folder is never let go of");
}

impl History {
    fn new(parent: &Path) -> Self {
        let random = Random::new(scheduler::random(u64::MAX));
        let (reached, parent) = (Reached::default(), parent.to_owned());
        Self { random, next_table: FIRST_TABLE, tables_open: Vec::new(), reached, parent }
    }

    fn folder(&self, life: u64) -> PathBuf {
        self.parent.join(life.to_string())
    }

    /// Opens the folder of the previous life, and checks its content.
    fn open(&mut self, mut left: Left) -> (Arc<FjallStore>, Ledger) {
        let store = open(&left.folder);
        let found = block_on(reading::all(&store, FIRST_TABLE..self.next_table)).unwrap().unwrap();
        let tables = match left.killed_at {
            Some(commit) => {
                left.ledger.verify();
                let tables = left.ledger.left(commit, &found).unwrap_or_else(|error| panic!("killed: {error}"));
                left.ledger.acknowledged = commit;
                tables
            }
            None => {
                left.ledger.found(&found);
                left.ledger.verify();
                left.ledger.last()
            }
        };
        assert_eq!(differs(&tables, &found), None);
        let stamps = found.values().flat_map(|rows| rows.values()).map(|row| row.1);
        let highest = match left.killed_at {
            Some(commit) => stamps.max().unwrap_or(0).max(commit),
            None => left.ledger.highest(),
        };
        self.tables_open = tables.keys().copied().collect();
        let first = left.ledger.first + left.ledger.entries.len() as u64;
        (store, Ledger::new(tables, highest, first))
    }

    /// Runs one life. Returns its ledger and, after a kill, the remaining folder and the commit that must survive.
    fn live(
        &mut self,
        store: Arc<FjallStore>,
        ledger: Ledger,
        life: u64,
        acts: u64,
        end: End,
    ) -> (Ledger, Option<(Image, u64)>) {
        let shared = Arc::new(Mutex::new(Shared {
            ledger,
            tables: std::mem::take(&mut self.tables_open),
            next_table: self.next_table,
            next_loaded: LOADED + life * 100_000,
            enough: false,
            reached: std::mem::take(&mut self.reached),
        }));
        let clients = self.clients(&store, &shared, acts);
        let mut left = None;
        match end {
            End::Closed | End::Dropped => {}
            End::ClosedBeside => {
                self.wait();
                shared.lock().unwrap().ledger.closing = true;
                block_on(store.close()).unwrap().unwrap();
                shared.lock().unwrap().enough = true;
            }
            End::Killed => {
                self.wait();
                left = Some((folder::image(&self.folder(life)), shared.lock().unwrap().ledger.kept));
                shared.lock().unwrap().enough = true;
            }
        }
        end_clients(store, &shared, clients, end);
        let mut shared = shared.lock().unwrap();
        self.next_table = shared.next_table;
        self.reached = std::mem::take(&mut shared.reached);
        (std::mem::take(&mut shared.ledger), left)
    }

    fn ended(&mut self, ledger: Ledger, left: Option<(Image, u64)>, life: u64) -> Left {
        let (folder, next) = (self.folder(life), self.folder(life + 1));
        note_files(&left.as_ref().map_or_else(|| folder::image(&folder), |(image, _)| image.clone()));
        match left {
            Some((image, commit)) => {
                self.reached.kills += 1;
                folder::store(&image, &next);
                Left { ledger, killed_at: Some(commit), folder: next }
            }
            None => {
                std::fs::rename(folder, &next).unwrap();
                Left { ledger, killed_at: None, folder: next }
            }
        }
    }

    fn clients(&mut self, store: &Arc<FjallStore>, shared: &Arc<Mutex<Shared>>, acts: u64) -> Vec<JoinHandle> {
        let count = 2 + self.random.below(4);
        let each = |number| {
            let random = Random::new(self.random.next());
            let client = Client { store: store.clone(), shared: shared.clone(), random, kept: None };
            let live = move || block_on(client.live(acts)).unwrap();
            scheduler::spawn(&format!("client {number}"), false, live).unwrap()
        };
        (0..count).map(each).collect()
    }

    /// Waits for a random number of steps.
    fn wait(&mut self) {
        for _ in 0..self.random.below(250) {
            match self.random.percent(40) {
                true => scheduler::sleep(Duration::from_micros(self.random.below(3_000))),
                false => scheduler::point("waiting for the end"),
            }
        }
    }
}

/// Waits for the clients, and releases the store according to the end of the life.
fn end_clients(store: Arc<FjallStore>, shared: &Arc<Mutex<Shared>>, clients: Vec<JoinHandle>, end: End) {
    let store = (end != End::Dropped).then_some(store);
    if store.is_none() {
        // The last client drops the store; loads may outlive it.
        shared.lock().unwrap().ledger.closing = true;
    }
    clients.into_iter().for_each(|client| client.join().unwrap());
    if let Some(store) = store.as_ref().filter(|_| end != End::ClosedBeside) {
        look_at_all(store, shared);
    }
    if let Some(store) = store.as_ref().filter(|_| end == End::Closed) {
        shared.lock().unwrap().ledger.closing = true;
        block_on(store.close()).unwrap().unwrap();
    }
    drop(store);
}

/// Adds the written files to the trace, because the seed determines them. Table files are excluded, because they
/// contain the real creation time.
fn note_files(image: &Image) {
    let is_ours = |path: &Path| path.extension().is_some_and(|end| end == "jnl") || path.ends_with("watermark");
    for (path, file) in image.iter().filter(|(path, _)| is_ours(path)) {
        let mut hash = DefaultHasher::new();
        path.hash(&mut hash);
        file.iter().flat_map(|file| &file.data).for_each(|part| part.hash(&mut hash));
        scheduler::note(hash.finish());
    }
}

/// Reads all tables at a snapshot at the end of a life.
fn look_at_all(store: &Arc<FjallStore>, shared: &Arc<Mutex<Shared>>) {
    let newest = CommitNo(shared.lock().unwrap().ledger.acknowledged);
    let (at_least, tables) = {
        let shared = shared.lock().unwrap();
        (shared.ledger.visible(), shared.tables.clone())
    };
    let looked = block_on(async {
        let snapshot = store.snapshot(newest).await?;
        shared.lock().unwrap().ledger.taken(snapshot.commit().0, at_least.max(newest.0));
        for table in tables {
            let rows = reading::table(store, table, &snapshot).await?;
            shared.lock().unwrap().ledger.read(snapshot.commit().0, table, rows);
        }
        Ok::<_, StoreError>(())
    });
    match looked.unwrap() {
        Ok(()) | Err(StoreError::SnapshotTooOld { .. }) => {}
        Err(error) => panic!("{error:?}"),
    }
}
