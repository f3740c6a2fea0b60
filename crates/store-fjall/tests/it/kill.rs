//! `kill -9` during commits and loads: everything acknowledged is there, everything else is atomic.
//!
//! The test starts its own binary as the child, which writes and prints acknowledgements, and kills it after a random
//! time. The folder is kept between cycles.

use crate::support::*;
use std::collections::{BTreeMap, HashSet};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use store::{LoadRows, LoadTable, OnDuplicate, Store, TableChange, TableId, WriteBatch};
use store_fjall::{FjallStore, Options};

/// Default of `BENNU_KILL_CYCLES`.
const CYCLES: u32 = 40;
const FOLDER: &str = "BENNU_KILL_TEST_FOLDER";
const CYCLE: &str = "BENNU_KILL_TEST_CYCLE";
/// Rows per batch: half in table 1, half in table 2.
const BATCH: u32 = 6;
const LOAD_ROWS: u32 = 6000;
/// Offset of the id of a second table that gets the same rows in the same load.
const BESIDE: u32 = 1_000_000;

fn small(path: &Path) -> Arc<FjallStore> {
    let options = Options { memtable_entries: 3000, small_load_bytes: 20_000, load_buffer_bytes: 100_000, ..options() };
    FjallStore::open(path, options).unwrap()
}

/// Not a test by itself: the child process, which does nothing unless the parent has set its variables.
#[test]
fn child_of_the_kill_test() {
    let (Ok(folder), Ok(cycle)) = (std::env::var(FOLDER), std::env::var(CYCLE)) else {
        return;
    };
    let cycle: u32 = cycle.parse().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let store = small(Path::new(&folder));
        let writers: Vec<_> = (0..4).map(|writer| tokio::spawn(write(store.clone(), cycle, writer))).collect();
        if cycle.is_multiple_of(2) {
            tokio::spawn(load(store.clone(), cycle)).await.unwrap();
        }
        for writer in writers {
            writer.await.unwrap();
        }
    });
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\nACK {line}").unwrap();
    out.flush().unwrap();
}

/// Commits batches over two tables and prints the name of each when it is durable.
async fn write(store: Arc<FjallStore>, cycle: u32, writer: u32) {
    for number in 0.. {
        let name = format!("{cycle:03}-{writer}-{number:06}");
        let rows = (0..BATCH).map(|row| put(1 + row % 2, &format!("{name}-{row}"), &name)).collect();
        commit(&store, batch(rows)).await;
        say(&format!("batch {name}"));
    }
}

/// Loads twice into two tables, which are created for each pair of loads and dropped two pairs later.
async fn load(store: Arc<FjallStore>, cycle: u32) {
    for number in 0.. {
        let table = 1000 + cycle * 1000 + number;
        commit(&store, create(table)).await;
        commit(&store, create(table + BESIDE)).await;
        say(&format!("table {table}"));
        load_both(&store, table, 0).await;
        say(&format!("load {table}"));
        load_both(&store, table, LOAD_ROWS).await;
        say(&format!("append {table}"));
        if number >= 2 {
            let tables = [table - 2, table - 2 + BESIDE].map(|table| TableChange::Drop(TableId(table))).to_vec();
            commit(&store, WriteBatch { tables, ..WriteBatch::default() }).await;
            say(&format!("drop {}", table - 2));
        }
    }
}

async fn load_both(store: &FjallStore, table: u32, first: u32) {
    let mut load = store.bulk_load(TableId(table), OnDuplicate::Fail).await.unwrap();
    let beside = LoadTable { table: TableId(table + BESIDE), on_duplicate: OnDuplicate::Replace, unique: None };
    load.add_table(beside).unwrap();
    for row in 0..LOAD_ROWS {
        let key = format!("{:06}", first + (row * 7) % LOAD_ROWS);
        let mut entry = LoadRows::default();
        entry.push(format!("{:06}{key}", (row * 11) % 100).as_bytes(), &fragment(""));
        load.write(FAMILY, key.as_bytes(), &fragment("loaded")).await.unwrap();
        load.write_rows_of(TableId(table + BESIDE), FAMILY, entry).await.unwrap();
    }
    load.finish().await.unwrap();
}

struct Running {
    child: Child,
    output: BufReader<ChildStdout>,
}

fn start(folder: &Path, cycle: u32) -> Running {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["kill::child_of_the_kill_test", "--exact", "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder)
        .env(CYCLE, cycle.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    Running { child, output }
}

/// Returns true if the child has done enough for the cycle; every fourth cycle needs a load, too.
fn is_enough(acks: &[String], cycle: u32) -> bool {
    let count = |kind: &str| acks.iter().filter(|ack| ack.starts_with(kind)).count();
    count("batch ") > 5 && (!cycle.is_multiple_of(4) || count("load ") > 0)
}

/// Kills the child after enough acknowledgements and a delay. Returns all acknowledgements.
fn kill_after(mut running: Running, cycle: u32, wait: Duration) -> Vec<String> {
    let mut acks = Vec::new();
    let mut line = String::new();
    while !is_enough(&acks, cycle) && running.output.read_line(&mut line).unwrap() > 0 {
        acks.extend(line.trim().strip_prefix("ACK ").map(str::to_owned));
        line.clear();
    }
    let pid = running.child.id();
    let killer = std::thread::spawn(move || {
        std::thread::sleep(wait);
        Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
    });
    for line in running.output.lines() {
        acks.extend(line.unwrap().trim().strip_prefix("ACK ").map(str::to_owned));
    }
    killer.join().unwrap();
    running.child.wait().unwrap();
    acks
}

fn cycles() -> u32 {
    std::env::var("BENNU_KILL_CYCLES").map_or(CYCLES, |cycles| cycles.parse().unwrap())
}

#[derive(Default)]
struct Acknowledged {
    batches: HashSet<String>,
    /// The last acknowledgement of each table.
    tables: BTreeMap<u32, String>,
}

impl Acknowledged {
    fn add(&mut self, ack: &str) {
        let (kind, what) = ack.split_once(' ').unwrap();
        if kind == "batch" {
            self.batches.insert(what.to_owned());
        } else {
            self.tables.insert(what.parse().unwrap(), kind.to_owned());
        }
    }
}

async fn verify(folder: &Path, acknowledged: &Acknowledged, cycle: u32) {
    let store = small(folder);
    let at = now(&store).await;
    let mut found: BTreeMap<String, u32> = BTreeMap::new();
    for table in [1, 2] {
        for (key, value) in scan(&store, table, &at).await {
            assert!(key.starts_with(&value), "{key} holds {value}");
            *found.entry(value).or_default() += 1;
        }
    }
    for (name, rows) in &found {
        assert_eq!(*rows, BATCH, "cycle {cycle}: batch {name} is there by half");
    }
    for name in &acknowledged.batches {
        assert!(found.contains_key(name), "cycle {cycle}: acknowledged batch {name} is lost");
    }
    for (table, said) in &acknowledged.tables {
        verify_table(&store, &at, *table, said, cycle).await;
    }
    let report = store.check().await.unwrap();
    assert_eq!(report.problems, [], "cycle {cycle}");
}

async fn verify_table(store: &FjallStore, at: &store::Snapshot, table: u32, said: &str, cycle: u32) {
    let request = store::ScanRequest::new(TableId(table), FAMILY, vec![store::KeyRange::all()]);
    let rows = match store.scan(request, at).await {
        Ok(_) => Some(scan(store, table, at).await.len() as u32),
        Err(_) => None,
    };
    // One more step may have happened without an acknowledgement.
    let allowed = match said {
        "table" => vec![Some(0), Some(LOAD_ROWS)],
        "load" => vec![Some(LOAD_ROWS), Some(2 * LOAD_ROWS)],
        "append" => vec![Some(2 * LOAD_ROWS), None],
        _ => vec![None],
    };
    assert!(allowed.contains(&rows), "cycle {cycle}: table {table} after \"{said}\" has {rows:?}");
    if rows.is_some() {
        let beside = scan(store, table + BESIDE, at).await.len() as u32;
        assert_eq!(rows, Some(beside), "cycle {cycle}: table {table} after \"{said}\" and what was loaded beside it");
    }
}

#[test]
fn nothing_acknowledged_is_lost_by_kill_minus_nine() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let store = small(folder.path());
        commit(&store, create(1)).await;
        commit(&store, create(2)).await;
    });
    let mut acknowledged = Acknowledged::default();
    for cycle in 0..cycles() {
        // 0 to 250 ms in pseudo-random order, the same in every run.
        let wait = Duration::from_millis(u64::from(cycle * 97 % 250));
        for ack in kill_after(start(folder.path(), cycle), cycle, wait) {
            acknowledged.add(&ack);
        }
        runtime.block_on(verify(folder.path(), &acknowledged, cycle));
    }
    assert!(acknowledged.batches.len() > cycles() as usize * 5, "the children did too little to prove anything");
    assert!(acknowledged.tables.values().filter(|said| *said != "table").count() > 5);
}
