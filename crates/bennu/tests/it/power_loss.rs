//! Power loss while rows of an indexed table are written, while others are loaded with their index entries, and while
//! indexes are created, rebuilt and dropped in every way: acknowledged rows are durable, and index entries match the
//! rows, at once and after interrupted builds have ended.
//!
//! Power is cut at `BENNU_SIM_INDEXED_POINTS` points of the recorded run; unsynced writes are then lost or torn.
#![allow(clippy::print_stdout, reason = "a run says its seed")]

use bennu::{Bennu, Options, Row, Session};
use sim::power_loss::{Disk, Recording, Unsynced, in_memory};
use sim::random::Random;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::runtime::Runtime;

const CHILD: &str = "INDEXED_POWER_LOSS_CHILD";
const WRITERS: u64 = 2;
/// Rounds of each writer.
const ROUNDS: u64 = 60;
const POINTS: usize = 32;
/// Rows of a load: with their index entries too many for one write batch.
const LOADED: i64 = 9_000;
const LOADS: i64 = 3;

fn points() -> usize {
    std::env::var("BENNU_SIM_INDEXED_POINTS").map_or(POINTS, |points| points.parse().unwrap())
}

fn seed() -> u64 {
    std::env::var("BENNU_SIM_INDEXED_SEED").map_or(1, |seed| seed.parse().unwrap())
}

fn options() -> Options {
    Options { cache_bytes: 8 << 20, memtable_bytes: 1 << 20, query_threads: 1, ..Options::default() }
}

/// DataFusion's planner recurses: debug builds need a larger stack than the default.
fn runtime() -> Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(3).thread_stack_size(32 << 20).enable_all().build().unwrap()
}

/// Not a test: the recorded process runs this function.
#[test]
fn child_that_writes_indexed_rows() {
    let Some(root) = std::env::var_os(CHILD).map(PathBuf::from) else { return };
    let runtime = runtime();
    runtime.block_on(runtime.spawn(live(root))).unwrap();
    // Exits without destructors, which would sync.
    std::process::exit(0);
}

async fn live(root: PathBuf) {
    let db = Bennu::open_with_options(root.join("data"), &options()).await.unwrap();
    let mut session = db.session().unwrap();
    for statement in [
        "CREATE TABLE t (n bigint PRIMARY KEY, a bigint UNIQUE, b text, v numeric) SALT_BUCKETS = 4",
        "CREATE INDEX by_b ON t (lower(b) DESC) INCLUDE (v)",
        "CREATE INDEX by_v ON t (v, a) WHERE v > 0",
        "CREATE LOCAL INDEX by_a ON t (a, b)",
        "CREATE TABLE l (n bigint PRIMARY KEY, a bigint UNIQUE, pad text)",
        "CREATE INDEX l_pad ON l (a DESC) INCLUDE (pad)",
        "CREATE INDEX l_low ON l (lower(pad), n)",
    ] {
        session.execute(statement).await.unwrap();
    }
    let ended = Arc::new(AtomicBool::new(false));
    let definer = tokio::spawn(define(db.session().unwrap(), ended.clone()));
    let acks = File::options().create(true).append(true).open(root.join("loads")).unwrap();
    let loader = tokio::spawn(load(db.session().unwrap(), acks));
    let writers = (0..WRITERS).map(|writer| {
        let acks = File::options().create(true).append(true).open(root.join("acks")).unwrap();
        tokio::spawn(write(db.session().unwrap(), writer * 1_000_000, acks))
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    loader.await.unwrap();
    ended.store(true, Ordering::Relaxed);
    definer.await.unwrap();
}

/// Loads into an empty table, then into one with rows.
async fn load(mut session: Session, mut acks: File) {
    for first in (0..LOADS).map(|load| load * LOADED) {
        let mut appender = session.appender("l").await.unwrap();
        for row in 0..LOADED {
            let n = first + row * 7919 % LOADED;
            appender.row((n, -n, format!("Pad {n} {}", "of the row ".repeat(28)))).await.unwrap();
        }
        appender.finish().await.unwrap();
        acks.write_all(b".").unwrap();
    }
}

/// Writes rows. Rows whose numbers end in 7 are not changed afterwards.
async fn write(mut session: Session, first: u64, mut acks: File) {
    for n in first..first + ROUNDS {
        let statements = [
            format!("INSERT INTO t VALUES ({n}7, {n}7, 'B{}', {n}.50)", n % 9),
            format!("INSERT INTO t VALUES ({n}1, {n}1, 'x', 1), ({n}2, {n}2, 'y', -2)"),
            format!("UPDATE t SET a = a + 1, b = b || 'u', v = -v WHERE n = {n}1 OR n = {n}2"),
            format!("UPSERT INTO t VALUES ({n}1, {n}8, 'z', NULL)"),
            format!("DELETE FROM t WHERE n = {n}2"),
        ];
        for (at, statement) in statements.iter().enumerate() {
            session.execute(statement).await.unwrap_or_else(|error| panic!("{statement}: {error:?}"));
            if at == 0 {
                acks.write_all(format!("{n}7\n").as_bytes()).unwrap();
            }
        }
    }
}

/// Creates, rebuilds and drops indexes until the writers have ended.
async fn define(mut session: Session, ended: Arc<AtomicBool>) {
    let mut random = Random::new(seed());
    while !ended.load(Ordering::Relaxed) {
        let way = if random.percent(50) { "CONCURRENTLY" } else { "" };
        let of = ["(b, n)", "(v, a) INCLUDE (b)", "(a DESC, b) WHERE a > 100", "(n + a)"][random.below(4) as usize];
        let statement = match random.below(6) {
            0 | 1 => format!("CREATE INDEX {way} made ON t {of}"),
            2 => format!("CREATE INDEX made ON t {of} ASYNC"),
            3 => format!("DROP INDEX {way} made"),
            4 => format!("REINDEX INDEX {way} by_b"),
            _ => format!("REINDEX TABLE {way} t"),
        };
        if let Err(error) = session.execute(&statement).await {
            // The index exists already, does not exist, or is being built.
            assert!(["42P07", "42704", "55000"].contains(&error.code()), "{statement}: {error:?}");
        }
    }
}

#[test]
fn entries_are_those_of_the_rows_wherever_the_power_goes() {
    let Recording { root, log, .. } = &Recording::of("power_loss::child_that_writes_indexed_rows", CHILD, &[]).unwrap();
    let mut random = Random::new(seed());
    let points: BTreeSet<usize> = (0..points()).map(|_| random.below(log.events.len() as u64) as usize).collect();
    println!("seed {}: {} events, {} points", seed(), log.events.len(), points.len());
    let (runtime, mut disk, mut waited) = (runtime(), Disk::new(root), 0);
    for (at, event) in log.events.iter().enumerate() {
        disk.apply(event);
        let acks = disk.read(&root.join("acks")).unwrap_or_default();
        if acks.is_empty() || !points.contains(&at) {
            continue;
        }
        let torn = random.percent(50);
        let left = in_memory().unwrap();
        let mut lucky = || random.percent(50);
        disk.store(left.path(), if torn { Unsynced::Torn(&mut lucky) } else { Unsynced::Lost }).unwrap();
        let folder = left.path().join("data");
        let acks = String::from_utf8(acks).unwrap();
        let loads = disk.read(&root.join("loads")).map_or(0, |acks| acks.len() as i64);
        let found = runtime.block_on(runtime.spawn(async move { verify(&folder, &acks, loads).await })).unwrap();
        waited += found.unwrap_or_else(|error| panic!("event {at}, torn {torn}: {error}"));
    }
    println!("{waited} jobs went on");
}

/// Verifies the data after a power cut. Returns how many jobs were resumed.
async fn verify(data: &Path, acks: &str, loads: i64) -> Result<i64, String> {
    let failed = |error: bennu::Error| format!("{} {}", error.code(), error.message());
    let db = Bennu::open_with_options(data, &options()).await.map_err(failed)?;
    let mut session = db.session().map_err(failed)?;
    compare(&mut session, acks).await?;
    whole_loads(&mut session, loads).await?;
    let count = "SELECT count(*) FROM bennu.jobs WHERE state NOT IN ('succeeded', 'failed', 'cancelled')";
    let under_way = session.row::<(i64,)>(count, &[]).await.map_err(failed)?.map_or(0, |(count,)| count);
    for _ in 0..3_000 {
        if session.row::<(i64,)>(count, &[]).await.map_err(failed)? == Some((0,)) {
            compare(&mut session, acks).await?;
            drop(session);
            return db.close().await.map(|()| under_way).map_err(failed);
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Err("a job does not end".to_string())
}

/// Checks that each load is complete with its index entries, or absent.
async fn whole_loads(session: &mut Session, acknowledged: i64) -> Result<(), String> {
    let failed = |error: bennu::Error| format!("{} {}", error.code(), error.message());
    let differences = session.rows::<Row>("CHECK TABLE l", &[]).await.map_err(failed)?;
    if let Some(row) = differences.first() {
        return Err(format!("{:?}", row.values()));
    }
    let found = session.row::<(i64,)>("SELECT count(*) FROM l", &[]).await.map_err(failed)?.map_or(0, |(count,)| count);
    match found % LOADED == 0 && (acknowledged..=acknowledged + 1).contains(&(found / LOADED)) {
        true => Ok(()),
        false => Err(format!("{found} rows are there after {acknowledged} loads")),
    }
}

/// Checks that index entries match the rows, and that acknowledged rows exist.
async fn compare(session: &mut Session, acks: &str) -> Result<(), String> {
    let failed = |error: bennu::Error| format!("{} {}", error.code(), error.message());
    let differences = session.rows::<Row>("CHECK TABLE t", &[]).await.map_err(failed)?;
    if let Some(row) = differences.first() {
        return Err(format!("{:?}", row.values()));
    }
    let there = session.rows::<(i64,)>("SELECT n FROM t WHERE n % 10 = 7", &[]).await.map_err(failed)?;
    let there: BTreeSet<i64> = there.into_iter().map(|(n,)| n).collect();
    let acknowledged: BTreeSet<i64> = acks.lines().map(|line| line.parse().unwrap()).collect();
    let lost: Vec<_> = acknowledged.difference(&there).collect();
    if lost.is_empty() { Ok(()) } else { Err(format!("acknowledged rows are lost: {lost:?}")) }
}
