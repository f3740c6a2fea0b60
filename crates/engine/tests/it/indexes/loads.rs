//! Loads into indexed tables: rows and entries become visible together, or not at all.

use super::World;
use crate::copy::copy;
use engine::{Answer, EngineError};
use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;
use store::StoreError;
use store_fjall::FjallStore;
use store_testkit::{FaultPlan, FaultStore, ModelStore, Point};

const KINDS: &str = "
    CREATE UNIQUE INDEX by_u ON t (u DESC NULLS LAST) INCLUDE (pad, n);
    CREATE INDEX by_text ON t (s NULLS FIRST, n DESC);
    CREATE INDEX by_key ON t (b DESC, d) INCLUDE (a, s);
    CREATE INDEX salted ON t (n) SALT_BUCKETS = 3;
    CREATE LOCAL INDEX local ON t (d) INCLUDE (u);
    CREATE INDEX computed ON t (lower(s), (n + a));
    CREATE UNIQUE INDEX partial ON t (d, a, b) WHERE n > 10;
    CREATE INDEX disabled ON t (pad);
    ALTER INDEX disabled ON t DISABLE;
    CREATE INDEX unusable ON t (f, w);
    ALTER INDEX unusable ON t UNUSABLE";

/// The embedded store, configured so that small loads become sorted runs.
async fn world() -> World {
    let options = store_fjall::Options {
        temporary: true,
        small_load_bytes: 4 << 10,
        load_buffer_bytes: 256 << 10,
        large_commit_bytes: 4 << 10,
        ..store_fjall::Options::default()
    };
    let mut world = World::over(FjallStore::open(tempfile::tempdir().unwrap().keep(), options).unwrap()).await;
    make(&mut world).await;
    world
}

async fn make(world: &mut World) {
    world
        .client
        .ok("CREATE TABLE t (b integer, a bigint NOT NULL, u integer, s varchar(9), n numeric(8,2), d date, pad text, f float8, w numeric,
             g bigint GENERATED ALWAYS AS (a * 2) STORED, CHECK (a >= 0), PRIMARY KEY (a, b DESC)) SALT_BUCKETS = 4")
        .await;
    for statement in KINDS.split(';') {
        world.client.ok(statement).await;
    }
}

const COPY: &str = "COPY t (b, a, u, s, n, d, pad, f, w) FROM STDIN (FORMAT csv)";

/// A line for each number; `u` is the number, or empty.
fn lines(numbers: impl Iterator<Item = u32>) -> String {
    let mut text = String::new();
    for n in numbers {
        let u = if n % 5 == 0 { String::new() } else { n.to_string() };
        let s = if n % 7 == 0 { String::new() } else { format!("S{}", n % 900) };
        let mark = if n % 11 == 0 { "-" } else { "" };
        let day = n % 28 + 1;
        writeln!(
            text,
            "{},{n},{u},{s},{mark}{}.5,2024-02-{day:02},text {n} of some length,{mark}{n}.25,{}.{}0",
            n % 3,
            n % 1000,
            n % 50,
            n % 10
        )
        .unwrap();
    }
    text
}

fn shuffled(numbers: Range<u32>) -> impl Iterator<Item = u32> {
    let (first, count) = (numbers.start, numbers.end - numbers.start);
    (0..count).map(move |at| first + (u64::from(at) * 7919 % u64::from(count)) as u32)
}

/// Loads in blocks and line by line, in key order or not, into an empty table and into tables with rows.
#[tokio::test]
async fn loads_bring_the_entries_of_their_rows() {
    let mut world = world().await;
    let mut rows = 0;
    for (count, sorted) in [(3, true), (8_500, false), (2_000, true), (300, false), (5, false)] {
        let numbers = rows..rows + count;
        let text = if sorted { lines(numbers) } else { lines(shuffled(numbers)) };
        assert_eq!(copy(&mut world.client, COPY, &text, 1 << 16).await.unwrap(), format!("COPY {count}"));
        rows += count;
        assert_eq!(world.verify_after("t", &format!("{count} rows, sorted {sorted}")).await, rows as usize);
    }
    let sums = world.client.run("SELECT count(*), sum(a), sum(g) FROM t").await;
    let sum = u64::from(rows) * u64::from(rows - 1) / 2;
    assert_eq!(sums, format!("{rows}|{sum}|{}\nSELECT 1", sum * 2));
    // Later writes find the entries.
    world.client.ok("UPDATE t SET u = -u, s = s || 'x' WHERE a % 100 = 1; DELETE FROM t WHERE a % 100 = 2").await;
    world.verify("t").await;
    world.client.ok("ALTER INDEX disabled ON t REBUILD; ALTER INDEX unusable ON t USABLE; REINDEX TABLE t").await;
    world.verify("t").await;
}

#[tokio::test]
async fn rows_of_a_query_bring_their_entries() {
    let mut world = world().await;
    world.client.ok("CREATE TABLE q (a integer PRIMARY KEY, b integer UNIQUE, s text)").await;
    world.client.ok("CREATE INDEX ON q (s DESC, b)").await;
    let insert = |from: u32, to: u32| {
        format!("INSERT INTO q SELECT g, -g, 's' || g % 900 FROM generate_series({from}, {to}) AS s (g)")
    };
    // Enough rows for a bulk load.
    world.client.ok(&insert(1, 20_500)).await;
    assert_eq!(world.verify("q").await, 20_500);
    world.client.ok(&insert(20_501, 41_500)).await;
    assert_eq!(world.verify("q").await, 41_500);
    world.client.ok("UPDATE q SET a = 90000 WHERE a = 41500").await;
    let failed = world.client.run(&insert(41_500, 62_500)).await;
    assert!(failed.contains("ERROR 23505") && failed.contains("Key (b)=(-41500) already exists."), "{failed}");
    assert_eq!(world.verify("q").await, 41_500);
}

/// The fields of an error that clients evaluate.
fn fields(error: &EngineError) -> (String, String, String) {
    let constraint = error.constraint().unwrap_or_default();
    (error.code().to_string(), constraint.to_string(), error.detail().unwrap_or_default().to_string())
}

/// A wrong last line leaves neither rows nor entries, and the error is that of an INSERT.
#[tokio::test]
async fn a_load_that_fails_leaves_neither_rows_nor_entries() {
    let mut world = world().await;
    let mut there = 0;
    for count in [4_u32, 1_500, 1_500] {
        let bad = [
            // The key of a row of the load, and the key of an existing row.
            (format!("{},{},900001,x,1,2024-01-01,p,1,1", (there + 1) % 3, there + 1), "23505", "t_pkey"),
            (format!("{},0,900001,x,1,2024-01-01,p,1,1", 0), "23505", "t_pkey"),
            // The same for values of each unique index.
            (format!("1,900001,{},x,1,2024-01-01,p,1,1", there + 2), "23505", "by_u"),
            ("1,900001,1,x,1,2024-01-01,p,1,1".to_string(), "23505", "by_u"),
            ("1,-1,900001,x,1,2024-01-01,p,1,1".to_string(), "23514", "t_a_check"),
            ("1,,900001,x,1,2024-01-01,p,1,1".to_string(), "23502", ""),
            ("1,900001,900001,x,y,2024-01-01,p,1,1".to_string(), "22P02", ""),
        ];
        for (line, code, constraint) in bad {
            let text = format!("{}{line}\n", lines(shuffled(there..there + count)));
            let error = copy(&mut world.client, COPY, &text, 1 << 16).await.unwrap_err();
            let (found, of, detail) = fields(&error);
            assert_eq!((found.as_str(), of.as_str()), (code, constraint), "{line}: {error} {detail}");
            world.client.run("ROLLBACK").await;
            assert_eq!(world.verify_after("t", &line).await, there as usize);
        }
        copy(&mut world.client, COPY, &lines(shuffled(there..there + count)), 1 << 16).await.unwrap();
        there += count;
        assert_eq!(world.verify("t").await, there as usize);
    }
    let twice = format!("{}1,900001,7,x,1,2024-01-01,p,1,1\n", lines(there..there + 1_500));
    let error = copy(&mut world.client, COPY, &twice, 1 << 16).await.unwrap_err();
    let detail = "Key (u)=(7) already exists.".to_string();
    assert_eq!(fields(&error), ("23505".to_string(), "by_u".to_string(), detail));
}

#[tokio::test]
async fn a_load_that_is_given_up_leaves_nothing() {
    let mut world = world().await;
    let statements = world.client.session.parse(COPY).unwrap();
    let Answer::CopyIn(mut load) = world.client.session.run(&statements[0]).await.unwrap() else { panic!("no COPY") };
    load.feed(lines(shuffled(0..9_000)).as_bytes()).await.unwrap();
    drop(load);
    assert_eq!(world.verify("t").await, 0);
    copy(&mut world.client, COPY, &lines(0..20), 1 << 16).await.unwrap();
    assert_eq!(world.verify("t").await, 20);
}

/// In a transaction block, and for tables with foreign keys, rows are written one by one.
#[tokio::test]
async fn loads_that_go_row_by_row_bring_their_entries_too() {
    let mut world = world().await;
    world.client.ok("BEGIN").await;
    copy(&mut world.client, COPY, &lines(0..200), 1 << 16).await.unwrap();
    world.client.ok("COMMIT").await;
    assert_eq!(world.verify("t").await, 200);
    world.client.ok("CREATE TABLE parent (a integer PRIMARY KEY)").await;
    world.client.ok("CREATE TABLE child (a integer PRIMARY KEY, p integer REFERENCES parent, s text UNIQUE)").await;
    world.client.ok("INSERT INTO parent VALUES (1), (2)").await;
    let child = "COPY child FROM STDIN (FORMAT csv)";
    copy(&mut world.client, child, "1,1,x\n2,2,y\n3,,z\n", 100).await.unwrap();
    let error = copy(&mut world.client, child, "4,2,q\n5,3,r\n", 100).await.unwrap_err();
    assert_eq!(error.code(), "23503");
    assert_eq!(world.verify("child").await, 3);
}

/// Rows that are older than a column have its default.
#[tokio::test]
async fn entries_of_rows_of_older_layouts_have_the_values_of_added_columns() {
    let mut world = world().await;
    copy(&mut world.client, COPY, &lines(0..600), 1 << 16).await.unwrap();
    world.client.ok("ALTER TABLE t ADD COLUMN added integer DEFAULT 7").await;
    copy(&mut world.client, COPY, &lines(600..1_200), 1 << 16).await.unwrap();
    world
        .client
        .ok("CREATE INDEX by_added ON t (added, b) INCLUDE (d); CREATE INDEX has_added ON t (d) INCLUDE (added)")
        .await;
    assert_eq!(world.verify("t").await, 1_200);
    copy(&mut world.client, COPY, &lines(1_200..1_800), 1 << 16).await.unwrap();
    assert_eq!(world.verify("t").await, 1_800);
}

/// Any store call may fail.
#[tokio::test]
async fn a_load_whose_store_fails_leaves_nothing() {
    for (point, nth) in [(Point::BulkLoad, 1), (Point::BulkWrite, 1), (Point::BulkWrite, 45), (Point::BulkFinish, 1)] {
        let plan = FaultPlan::new();
        let mut world = World::over(Arc::new(FaultStore::new(Arc::new(ModelStore::new()), plan.clone()))).await;
        make(&mut world).await;
        copy(&mut world.client, COPY, &lines(0..50), 1 << 16).await.unwrap();
        plan.fail(point, nth, StoreError::Io { action: "writing".into(), reason: "on purpose".into() });
        let error = copy(&mut world.client, COPY, &lines(50..90), 1 << 16).await.unwrap_err();
        assert_eq!((error.code(), plan.struck()), ("58030", 1), "{point:?} {nth}: {error}");
        plan.clear();
        assert_eq!(world.verify_after("t", &format!("{point:?} {nth}")).await, 50);
    }
}
