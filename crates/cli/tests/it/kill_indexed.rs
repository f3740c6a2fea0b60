//! `kill -9` while rows of an indexed table are written and loaded, and while indexes are created, rebuilt and dropped
//! in every way, with and without writers: index entries match the rows, at once and after the resumed jobs have ended.

use crate::server::Server;
use futures::SinkExt;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_postgres::{Client, SimpleQueryMessage};

/// Default of `BENNU_KILL_CYCLES`.
const CYCLES: u64 = 15;
/// Cycles per data folder: each cycle reads the rows of all earlier ones.
const IN_ONE_FOLDER: usize = 20;
const WRITERS: u64 = 3;
const DEFINERS: u64 = 2;
/// Rows per COPY.
const LOADED: u64 = 2_000;

/// `BENNU_KILL_SEED`, from which the DDL of each cycle derives.
fn seed() -> u64 {
    std::env::var("BENNU_KILL_SEED").map_or(20_261_125, |seed| seed.parse().unwrap())
}

fn cycles() -> u64 {
    std::env::var("BENNU_KILL_CYCLES").map_or(CYCLES, |cycles| cycles.parse().unwrap())
}

/// Acknowledged rows.
type Acknowledged = Arc<Mutex<BTreeSet<u64>>>;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn entries_are_those_of_the_rows_after_each_crash() {
    let all = cycles();
    for first in (0..all).step_by(IN_ONE_FOLDER) {
        entries_after_crashes(first..all.min(first + IN_ONE_FOLDER as u64)).await;
    }
}

async fn entries_after_crashes(cycles: Range<u64>) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (acknowledged, loads) = (Acknowledged::default(), Acknowledged::default());
    let mut server = Server::start(&data);
    let client = server.connect().await;
    let table = "CREATE TABLE t (n bigint PRIMARY KEY, a bigint UNIQUE, b text, v numeric) SALT_BUCKETS = 4;
                 CREATE INDEX by_b ON t (b DESC) INCLUDE (v); CREATE INDEX by_v ON t (v, a);
                 CREATE TABLE loaded (n bigint PRIMARY KEY, a bigint UNIQUE, b text);
                 CREATE INDEX ON loaded (lower(b), n DESC); CREATE INDEX ON loaded (b) INCLUDE (a)";
    client.batch_execute(table).await.unwrap();
    for cycle in cycles {
        let mut tasks = Vec::new();
        for writer in 0..WRITERS {
            let first = (cycle * WRITERS + writer) * 1_000_000;
            tasks.push(tokio::spawn(write(server.connect().await, first, acknowledged.clone())));
        }
        tasks.push(tokio::spawn(load(server.connect().await, cycle * 1_000, loads.clone())));
        for definer in 0..DEFINERS {
            let random = Random(seed() ^ (cycle * DEFINERS + definer).wrapping_mul(0x9E37_79B9_7F4A_7C15));
            tasks.push(tokio::spawn(define(server.connect().await, random)));
        }
        // Each cycle kills at another time.
        tokio::time::sleep(Duration::from_millis(80 + cycle * 53 % 300)).await;
        server.kill();
        for task in tasks {
            task.await.unwrap();
        }
        server = Server::start(&data);
        let client = server.connect().await;
        let at = format!("cycle {cycle} of seed {}", seed());
        verify(&client, &acknowledged, &at).await;
        verify_loads(&client, &loads, &at).await;
        // In every other cycle the jobs are killed again at the point where the last crash left them.
        if cycle % 2 == 1 {
            jobs_end(&client).await;
            verify(&client, &acknowledged, &at).await;
        }
    }
    assert!(!acknowledged.lock().unwrap().is_empty(), "the load never got through");
}

/// Writes until the server is killed. Rows whose numbers end in 7 are not changed afterwards.
async fn write(client: Client, first: u64, acknowledged: Acknowledged) {
    for n in first.. {
        let statements = [
            format!("INSERT INTO t VALUES ({n}7, {n}7, 'b{}', {n}.50)", n % 9),
            format!(
                "BEGIN; INSERT INTO t VALUES ({n}1, {n}1, 'x', 1), ({n}2, {n}2, 'y', 2);
                     UPDATE t SET a = a + 1, b = b || 'u' WHERE n = {n}1 OR n = {n}2; COMMIT"
            ),
            format!("UPSERT INTO t VALUES ({n}1, {n}8, 'z', NULL)"),
            format!("INSERT INTO t VALUES ({n}4, {n}8, 'q', 4) ON CONFLICT (a) DO UPDATE SET v = 4.0, n = excluded.n"),
            format!("DELETE FROM t WHERE n = {n}2 OR n = {}4", n.saturating_sub(3)),
        ];
        for (at, statement) in statements.iter().enumerate() {
            if client.batch_execute(statement).await.is_err() {
                return;
            }
            if at == 0 {
                acknowledged.lock().unwrap().insert(n * 10 + 7);
            }
        }
    }
}

/// Loads rows until the server is killed. A row's number begins with that of its load.
async fn load(client: Client, first: u64, acknowledged: Acknowledged) {
    for number in first.. {
        let mut text = String::new();
        for row in 0..LOADED {
            // Neither in key order nor in the order of an index.
            let row = row * 7919 % LOADED;
            let n = number * 10_000 + row;
            text.push_str(&format!("{n},{},B{}\n", u64::MAX / 2 - n, row % 17));
        }
        let Ok(sink) = client.copy_in::<_, std::io::Cursor<Vec<u8>>>("COPY loaded FROM STDIN (FORMAT csv)").await
        else {
            return;
        };
        let mut sink = std::pin::pin!(sink);
        if sink.send(std::io::Cursor::new(text.into_bytes())).await.is_err() || sink.finish().await.is_err() {
            return;
        }
        acknowledged.lock().unwrap().insert(number);
    }
}

/// Each load is complete with its index entries, or absent.
async fn verify_loads(client: &Client, loads: &Mutex<BTreeSet<u64>>, at: &str) {
    let differences = client.simple_query("CHECK TABLE loaded").await.unwrap();
    let rows: Vec<_> = differences.iter().filter(|it| matches!(it, SimpleQueryMessage::Row(_))).collect();
    assert!(rows.is_empty(), "{at}: {rows:?}");
    let found = client.query("SELECT n / 10000, count(*) FROM loaded GROUP BY 1", &[]).await.unwrap();
    let mut there = BTreeSet::new();
    for row in found {
        assert_eq!(row.get::<_, i64>(1), LOADED as i64, "{at}: load {} is there by half", row.get::<_, i64>(0));
        there.insert(row.get::<_, i64>(0) as u64);
    }
    let loads = loads.lock().unwrap();
    let lost: Vec<_> = loads.difference(&there).collect();
    assert!(lost.is_empty(), "{at}: acknowledged loads are lost: {lost:?}");
}

/// A pseudorandom generator: the same numbers for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }
}

/// Creates, rebuilds and drops indexes in every way until the server is killed.
async fn define(client: Client, mut random: Random) {
    loop {
        let (index, way) = (random.one_of(&["made", "other", "third"]), random.one_of(&["", "CONCURRENTLY"]));
        let of = random.one_of(&["(b, n)", "(v, a) INCLUDE (b)", "(a DESC, b, v)", "(n)"]);
        let statement = match random.below(10) {
            0 | 1 => format!("CREATE INDEX {way} {index} ON t {of}"),
            2 => format!("CREATE UNIQUE INDEX {way} {index} ON t (b, n)"),
            3 => format!("CREATE INDEX {index} ON t {of} ASYNC"),
            4 => format!("DROP INDEX {way} {index}"),
            5 => format!("REINDEX INDEX {way} {index}"),
            6 => format!("REINDEX TABLE {way} t"),
            7 => format!("SET bennu.job_rate = {}", random.below(4) * 20_000),
            8 => format!("REINDEX INDEX {way} {}", random.one_of(&["by_b", "by_v", "t_a_key"])),
            _ => match random.below(2) {
                0 => "ALTER TABLE t ADD CONSTRAINT unique_v UNIQUE (v, n)".to_string(),
                _ => "ALTER TABLE t DROP CONSTRAINT unique_v".to_string(),
            },
        };
        if let Err(error) = client.batch_execute(&statement).await {
            // Which indexes exist depends on earlier cycles and the other definer, who may also drop an index during
            // its build.
            let expected = ["42P07", "42710", "42704", "42P01", "55000", "2BP01"];
            match error.code() {
                Some(code) if expected.contains(&code.code()) => {}
                Some(code) => panic!("{statement}: {} {error:?}", code.code()),
                None => return,
            }
        }
    }
}

/// Waits until all jobs have ended.
async fn jobs_end(client: &Client) {
    let waiting = "SELECT count(*) FROM bennu.jobs WHERE state NOT IN ('succeeded', 'failed', 'cancelled')";
    for _ in 0..3_000 {
        if client.query_one(waiting, &[]).await.unwrap().get::<_, i64>(0) == 0 {
            let half = "SELECT count(*) FROM pg_index WHERE NOT indisvalid";
            assert_eq!(client.query_one(half, &[]).await.unwrap().get::<_, i64>(0), 0, "half an index without a job");
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("a job does not end: {:?}", client.simple_query("SHOW JOBS").await);
}

async fn verify(client: &Client, acknowledged: &Mutex<BTreeSet<u64>>, at: &str) {
    let differences = client.simple_query("CHECK TABLE t").await.unwrap();
    let rows: Vec<_> = differences.iter().filter(|it| matches!(it, SimpleQueryMessage::Row(_))).collect();
    assert!(rows.is_empty(), "{at}: {rows:?}");
    let there = client.query("SELECT n FROM t WHERE n % 10 = 7", &[]).await.unwrap();
    let there: BTreeSet<u64> = there.iter().map(|row| row.get::<_, i64>(0) as u64).collect();
    let acknowledged = acknowledged.lock().unwrap();
    let lost: Vec<_> = acknowledged.difference(&there).collect();
    assert!(lost.is_empty(), "{at}: acknowledged rows are lost: {lost:?}");
}
