//! Incremental refreshes of materialized views, compared with full ones: random writes, other sessions, restarts.

use crate::client::{Client, engine, engine_over};
use crate::copy::copy;
use engine::Engine;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use store_fjall::{FjallStore, Options};
use store_testkit::Random;

/// View queries, all over `t (k, a, b, n)`.
const VIEWS: [&str; 4] = [
    "SELECT a, count(*) AS c, sum(n) AS s, min(n) AS low, max(n) AS high, avg(n) AS mean FROM t GROUP BY a",
    "SELECT b, a % 2 AS even, count(n) AS c, sum(n) FILTER (WHERE n > 3) AS s FROM t WHERE k % 5 <> 0 GROUP BY 1, 2",
    "SELECT upper(b) AS u, count(DISTINCT a) AS kinds FROM t AS r GROUP BY u HAVING count(*) > 1",
    "SELECT a, b, sum(d) AS d FROM t GROUP BY a, b",
];

async fn set_up(c: &mut Client) {
    c.ok("CREATE TABLE t (k int PRIMARY KEY, a int, b text, n int, d numeric, note text)").await;
    for (at, query) in VIEWS.iter().enumerate() {
        c.ok(&format!("CREATE MATERIALIZED VIEW v{at} WITH (incremental = true) AS {query}")).await;
    }
    c.ok("CREATE UNIQUE INDEX ON v0 (a); CREATE INDEX ON v1 (c, b); CREATE UNIQUE INDEX ON v2 (u); CREATE INDEX ON v3 (d)").await;
}

/// Checks that each view has the rows of its query, with the same multiplicity.
async fn compare(c: &mut Client, when: &str) {
    for (at, query) in VIEWS.iter().enumerate() {
        c.ok(&format!("REFRESH MATERIALIZED VIEW v{at}")).await;
        let mut found = c.run(&format!("SELECT * FROM v{at}")).await.lines().map(str::to_owned).collect::<Vec<_>>();
        let mut wanted = c.run(query).await.lines().map(str::to_owned).collect::<Vec<_>>();
        found.sort();
        wanted.sort();
        assert_eq!(found, wanted, "v{at} {when}");
        assert_eq!(c.run(&format!("CHECK TABLE v{at}")).await, "CHECK 0", "v{at} {when}");
    }
}

fn group(random: &mut Random) -> String {
    match random.below(5) {
        0 => "NULL".to_string(),
        group => group.to_string(),
    }
}

fn row(random: &mut Random) -> String {
    let (k, a, n) = (random.below(40), group(random), random.below(12));
    let text = random.pick(&["'x'", "'X'", "'y'", "NULL"]);
    format!("({k}, {a}, {text}, nullif({n}, 0) - 3, 1.{}0, 'r')", k % 3)
}

/// A random row as a line of COPY, with a key that no other row has.
fn line(random: &mut Random, key: u64) -> String {
    let a = group(random).replace("NULL", "\\N");
    let text = random.pick(&["x", "X", "y", "\\N"]);
    format!("{key}\t{a}\t{text}\t{}\t1.{}0\tl\n", random.below(9), key % 3)
}

/// A random statement on few rows and few groups.
fn statement(random: &mut Random) -> String {
    let (k, a, view) = (random.below(40), group(random), random.below(4));
    match random.below(21) {
        0..=3 => format!("UPSERT INTO t (k, a, b, n, d, note) VALUES {}, {}", row(random), row(random)),
        4..=5 => format!(
            "INSERT INTO t VALUES {} ON CONFLICT (k) DO UPDATE SET n = excluded.n + t.n, a = excluded.a",
            row(random)
        ),
        6..=7 => format!("UPDATE t SET a = {a} WHERE k BETWEEN {k} AND {}", k + 5),
        8 => format!("UPDATE t SET n = {k} - 20, d = d + 0.00 WHERE k > {k}"),
        9 => format!("UPDATE t SET n = NULL WHERE k > {k}"),
        10 => format!("UPDATE t SET b = lower(b) || 'z' WHERE k = {k}"),
        11 => format!("UPDATE t SET note = 'n{k}', k = k + 100 WHERE k = {k}"),
        12 => "UPDATE t SET k = k - 100 WHERE k > 99".to_string(),
        13..=14 => format!("DELETE FROM t WHERE k BETWEEN {k} AND {}", k + 3),
        15 => format!(
            "INSERT INTO t SELECT i, i % 3, 'x', i, i, 's' FROM generate_series({k}, {}) AS s (i) ON CONFLICT DO NOTHING",
            k + 20
        ),
        16 => "TRUNCATE t".to_string(),
        17 => "BEGIN; DELETE FROM t WHERE a = 1; ROLLBACK".to_string(),
        18 => "BEGIN; UPDATE t SET n = 1 WHERE a = 1; SAVEPOINT s; DELETE FROM t; ROLLBACK TO s; COMMIT".to_string(),
        19 => format!("REFRESH MATERIALIZED VIEW v{view}"),
        _ => format!("REFRESH MATERIALIZED VIEW v{view} WITH NO DATA"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_view_is_what_its_query_gives_after_any_writes() {
    for seed in 1..=12_u64 {
        let mut random = Random::new(seed);
        let mut c = Client::new().await;
        set_up(&mut c).await;
        for round in 0..8 {
            for _ in 0..=random.below(5) {
                let statement = statement(&mut random);
                // A duplicate key is rejected, and leaves the rows unchanged.
                let answer = c.run(&statement).await;
                assert!(!answer.contains("ERROR") || answer.contains("23505"), "seed {seed}: {statement}\n{answer}");
            }
            if random.below(3) == 0 {
                let first = 1000 + 100 * round;
                let lines: String = (first..first + random.below(30)).map(|key| line(&mut random, key)).collect();
                copy(&mut c, "COPY t FROM STDIN", &lines, 1000).await.unwrap();
            }
            compare(&mut c, &format!("seed {seed}, round {round}")).await;
        }
    }
}

/// Number of rows that statements have written.
fn written(engine: &Arc<Engine>) -> u64 {
    let of =
        |wanted: &str| engine.metrics().into_iter().find(|(name, _)| *name == wanted).map_or(0, |(_, value)| value);
    of("statement_rows_inserted_total") + of("statement_rows_updated_total") + of("statement_rows_deleted_total")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_groups_that_have_changed_are_written() {
    let engine = engine().await;
    let mut c = Client::of(&engine);
    c.ok("CREATE TABLE t (k int PRIMARY KEY, g int, n int, note text)").await;
    c.ok("INSERT INTO t SELECT i, i % 100, 1, '' FROM generate_series(1, 5000) AS s (i)").await;
    c.ok("CREATE MATERIALIZED VIEW v WITH (incremental = true) AS SELECT g, sum(n) AS s FROM t GROUP BY g").await;
    c.ok("UPDATE t SET n = 2 WHERE k = 7; UPDATE t SET note = 'x'; DELETE FROM t WHERE g = 3").await;
    let before = written(&engine);
    c.ok("REFRESH MATERIALIZED VIEW v").await;
    assert_eq!(written(&engine) - before, 3, "two groups leave, one comes");
    assert_eq!(c.run("SELECT count(*), sum(s) FROM v").await, "99|4951\nSELECT 1");
    let before = written(&engine);
    c.ok("REFRESH MATERIALIZED VIEW v").await;
    assert_eq!(written(&engine) - before, 0, "nothing has changed");
}

/// Loads write sorted runs outside the transaction, together with the groups of their rows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn loads_note_the_groups_of_their_rows() {
    let options = Options { temporary: true, small_load_bytes: 4 << 10, ..Options::default() };
    let engine = engine_over(FjallStore::open(tempfile::tempdir().unwrap().keep(), options).unwrap()).await;
    let mut c = Client::of(&engine);
    c.ok("CREATE TABLE t (k int PRIMARY KEY, g int, n int CHECK (n < 100)); CREATE INDEX ON t (n)").await;
    c.ok("INSERT INTO t SELECT i, i % 50, 1 FROM generate_series(1, 500) AS s (i)").await;
    c.ok("CREATE MATERIALIZED VIEW v WITH (incremental = true) AS SELECT g, sum(n) AS s FROM t GROUP BY g").await;
    c.ok("CREATE MATERIALIZED VIEW w WITH (incremental = true) AS SELECT n % 2 AS g, count(*) AS c FROM t GROUP BY n % 2").await;
    let differs = "SELECT count(*) FROM (SELECT * FROM v EXCEPT SELECT g, sum(n) FROM t GROUP BY g) AS d";
    // Few groups are noted individually, in empty logs and in others, whatever the size of the load.
    for (round, rows) in [(1, 10), (2, 3000), (3, 3000), (4, 10)] {
        let lines: String = (0..rows).map(|row| format!("{}\t{}\t{round}\n", round * 10_000 + row, row % 7)).collect();
        assert_eq!(copy(&mut c, "COPY t FROM STDIN", &lines, 999).await.unwrap(), format!("COPY {rows}"));
        if round == 2 {
            continue;
        }
        let before = written(&engine);
        c.ok("REFRESH MATERIALIZED VIEW v").await;
        assert_eq!(written(&engine) - before, 14, "seven groups leave and come, round {round}");
        c.ok("REFRESH MATERIALIZED VIEW w").await;
        assert_eq!(c.run(differs).await, "0\nSELECT 1", "round {round}");
    }
    // A failed load notes no groups.
    let error = copy(&mut c, "COPY t FROM STDIN", "1\t1\t1\n", 9).await.unwrap_err();
    assert_eq!(error.code(), "23505");
    let before = written(&engine);
    c.ok("REFRESH MATERIALIZED VIEW v").await;
    assert_eq!(written(&engine) - before, 0);
    // With very many groups none is noted individually, and the refresh recomputes all.
    c.ok("INSERT INTO t SELECT 100000 + i, i, i % 3 FROM generate_series(1, 30000) AS s (i)").await;
    c.ok("REFRESH MATERIALIZED VIEW v; REFRESH MATERIALIZED VIEW w").await;
    assert_eq!(c.run(differs).await, "0\nSELECT 1");
    assert_eq!(c.run("SELECT count(*) FROM v").await, "30001\nSELECT 1");
    assert_eq!(c.run("SELECT sum(c) FROM w").await, "36520\nSELECT 1");
    for table in ["t", "v", "w"] {
        assert_eq!(c.run(&format!("CHECK TABLE {table}")).await, "CHECK 0");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writers_beside_refreshes_lose_no_change() {
    let engine = engine().await;
    let mut c = Client::of(&engine);
    c.ok("CREATE TABLE t (k int PRIMARY KEY, g int, n int)").await;
    c.ok("INSERT INTO t SELECT i, i % 10, 0 FROM generate_series(0, 199) AS s (i)").await;
    c.ok("CREATE MATERIALIZED VIEW v WITH (incremental = true) AS SELECT g, sum(n) AS s, count(*) AS c FROM t GROUP BY g").await;
    let stop = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..3)
        .map(|own| {
            let (mut writer, stop) = (Client::of(&engine), Arc::clone(&stop));
            tokio::spawn(async move {
                let mut at = own;
                while !stop.load(Ordering::Relaxed) {
                    at += 7;
                    let (from, to) = (at % 200, (at * 3 + 1) % 200);
                    // One row gains what the other loses: the sum is always 0.
                    let text = format!(
                        "BEGIN; UPDATE t SET n = n - 1 WHERE k = {from}; UPDATE t SET n = n + 1 WHERE k = {to}; COMMIT"
                    );
                    if writer.run(&text).await.contains("ERROR") {
                        writer.run("ROLLBACK").await;
                    }
                }
            })
        })
        .collect();
    for _ in 0..40 {
        c.ok("REFRESH MATERIALIZED VIEW v").await;
        assert_eq!(c.run("SELECT sum(s), sum(c) FROM v").await, "0|200\nSELECT 1", "the view is of one state");
    }
    stop.store(true, Ordering::Relaxed);
    for writer in writers {
        writer.await.unwrap();
    }
    c.ok("REFRESH MATERIALIZED VIEW v").await;
    let differs = "SELECT count(*) FROM (SELECT * FROM v EXCEPT SELECT g, sum(n), count(*) FROM t GROUP BY g) AS d";
    assert_eq!(c.run(differs).await, "0\nSELECT 1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_has_changed_is_known_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let open = || FjallStore::open(folder.path(), Options::default()).unwrap();
    let engine = engine_over(open()).await;
    let mut c = Client::of(&engine);
    c.ok("CREATE TABLE t (k int PRIMARY KEY, g int, n int)").await;
    c.ok("INSERT INTO t SELECT i, i % 10, 1 FROM generate_series(0, 99) AS s (i)").await;
    c.ok("CREATE MATERIALIZED VIEW v WITH (incremental = true) AS SELECT g, sum(n) AS s FROM t GROUP BY g").await;
    c.ok("UPDATE t SET n = 5 WHERE k = 3; DELETE FROM t WHERE k = 14").await;
    drop(c);
    engine.close().await.unwrap();
    drop(engine);
    let engine = engine_over(open()).await;
    let mut c = Client::of(&engine);
    c.ok("UPDATE t SET n = 3 WHERE k = 5").await;
    let before = written(&engine);
    c.ok("REFRESH MATERIALIZED VIEW v").await;
    assert_eq!(written(&engine) - before, 6, "three groups leave and come");
    assert_eq!(c.run("SELECT s FROM v WHERE g IN (3, 4, 5, 6) ORDER BY g").await, "14\n9\n12\n10\nSELECT 4");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_statement_that_changes_very_many_groups_makes_all_anew() {
    let engine = engine().await;
    let mut c = Client::of(&engine);
    c.ok("CREATE TABLE t (k int PRIMARY KEY, g text, n int)").await;
    c.ok("CREATE MATERIALIZED VIEW v WITH (incremental = true) AS SELECT g, sum(n) AS s FROM t GROUP BY g").await;
    let many = "INSERT INTO t SELECT i, repeat('g', 100) || i, 1 FROM generate_series(1, 9000) AS s (i)";
    c.ok(many).await;
    c.ok("REFRESH MATERIALIZED VIEW v").await;
    assert_eq!(c.run("SELECT count(*), sum(s) FROM v").await, "9000|9000\nSELECT 1");
    c.ok("UPDATE t SET n = 2 WHERE k = 1").await;
    let before = written(&engine);
    c.ok("REFRESH MATERIALIZED VIEW v").await;
    assert_eq!(written(&engine) - before, 2, "one group leaves and comes: what was noted before is done with");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn views_that_go_keep_no_writer_from_its_table() {
    let engine = engine().await;
    let mut c = Client::of(&engine);
    c.ok("CREATE TABLE t (k int PRIMARY KEY, g int)").await;
    let stop = Arc::new(AtomicBool::new(false));
    let writer = {
        let (mut writer, stop) = (Client::of(&engine), Arc::clone(&stop));
        tokio::spawn(async move {
            let mut at = 0;
            while !stop.load(Ordering::Relaxed) {
                at += 1;
                writer.ok(&format!("INSERT INTO t VALUES ({at}, {})", at % 5)).await;
            }
        })
    };
    for round in 0..10 {
        c.ok("CREATE SCHEMA s").await;
        c.ok("CREATE MATERIALIZED VIEW s.v WITH (incremental = true) AS SELECT g, count(*) AS c FROM t GROUP BY g")
            .await;
        c.ok("REFRESH MATERIALIZED VIEW s.v").await;
        match round % 3 {
            0 => c.ok("DROP MATERIALIZED VIEW s.v; DROP SCHEMA s").await,
            1 => c.ok("REFRESH MATERIALIZED VIEW s.v WITH NO DATA; DROP SCHEMA s CASCADE").await,
            _ => c.ok("DROP SCHEMA s CASCADE").await,
        }
    }
    stop.store(true, Ordering::Relaxed);
    writer.await.unwrap();
}
