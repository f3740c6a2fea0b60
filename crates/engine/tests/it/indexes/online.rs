//! Indexes that are built, rebuilt and dropped while their table is written to.

use super::World;
use crate::client::Client;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use store_testkit::Random;
use tokio::task::JoinHandle;

const TABLE: &str = "CREATE TABLE t (k integer PRIMARY KEY, a integer, b text, v numeric) SALT_BUCKETS = 3";

async fn world(rows: usize) -> World {
    let mut w = World::embedded().await;
    w.client.ok(TABLE).await;
    w.client.ok(&format!("INSERT INTO t SELECT g, g, 'b' || g % 7, g FROM generate_series(1, {rows}) AS s (g)")).await;
    w
}

/// Runs a statement in a session of its own.
fn spawn(w: &World, statement: &str) -> JoinHandle<String> {
    let (mut client, statement) = (Client::of(&w.engine), statement.to_string());
    tokio::spawn(async move { client.run(&statement).await })
}

/// Waits until a query has this answer.
async fn until(w: &World, query: &str, answer: &str) {
    Client::of(&w.engine).until(query, answer).await;
}

async fn until_phase(w: &World, phase: &str) {
    let query = "SELECT phase FROM bennu.jobs WHERE state = 'running' ORDER BY id DESC LIMIT 1";
    until(w, query, phase).await;
}

/// Runs all kinds of writes until `stop` is set; returns their number.
fn write(w: &World, seed: u64, stop: &Arc<AtomicBool>) -> JoinHandle<usize> {
    let (mut client, stop) = (Client::of(&w.engine), Arc::clone(stop));
    tokio::spawn(async move {
        let mut random = Random::new(seed);
        let mut next = move |below: u64| random.below(below);
        let mut done = 0;
        while !stop.load(Ordering::Relaxed) {
            let (k, a) = (next(3000), next(50_000) + 10_000 * seed);
            let statement = match next(6) {
                0 => format!("INSERT INTO t VALUES ({k}, {a}, 'i', {a}.50) ON CONFLICT DO NOTHING"),
                1 => format!("UPSERT INTO t VALUES ({k}, {a}, 'u', NULL)"),
                2 => format!("UPDATE t SET a = {a}, b = b || 'x' WHERE k = {k}"),
                3 => format!("DELETE FROM t WHERE k = {k}"),
                4 => format!("UPDATE t SET k = {} WHERE k = {k}", 3000 + next(3000)),
                _ => format!("BEGIN; UPDATE t SET b = 'o' WHERE k < {}; DELETE FROM t WHERE k = {k}; ROLLBACK", k % 40),
            };
            let answer = client.run(&statement).await;
            let known = ["23505", "40P01", "25P02"];
            assert!(
                !answer.contains("ERROR") || known.iter().any(|code| answer.contains(code)),
                "{statement}: {answer}"
            );
            if answer.contains("ERROR") {
                client.run("ROLLBACK").await;
            }
            done += 1;
        }
        done
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writers_go_on_and_no_change_is_missed() {
    let mut w = world(6000).await;
    let stop = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (1..4).map(|seed| write(&w, seed, &stop)).collect();
    w.client.ok("CREATE INDEX CONCURRENTLY i ON t (b DESC, a) INCLUDE (v)").await;
    for turn in 0..4 {
        w.client.ok("REINDEX INDEX CONCURRENTLY i").await;
        w.client.ok("CREATE UNIQUE INDEX CONCURRENTLY u ON t (k, a)").await;
        w.client.ok("REINDEX TABLE CONCURRENTLY t").await;
        w.client.ok("CREATE INDEX CONCURRENTLY j ON t (v)").await;
        assert_eq!(w.client.run("CHECK TABLE t").await, "CHECK 0", "turn {turn}, while writers go on");
        w.client.ok("DROP INDEX CONCURRENTLY u").await;
        w.client.ok("DROP INDEX CONCURRENTLY j").await;
    }
    stop.store(true, Ordering::Relaxed);
    for writer in writers {
        assert!(writer.await.unwrap() > 20);
    }
    assert_eq!(w.table("t").await.indexes.len(), 1);
    assert!(w.verify("t").await > 1000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_build_waits_for_an_old_writer_and_keeps_nobody_out() {
    let mut w = world(100).await;
    w.client.ok("BEGIN; UPDATE t SET a = -1 WHERE k = 1").await;
    let build = spawn(&w, "CREATE INDEX CONCURRENTLY i ON t (a)");
    until_phase(&w, "waiting for writers before build").await;
    // Other sessions write and read meanwhile.
    let mut other = Client::of(&w.engine);
    other
        .ok("UPDATE t SET a = -2 WHERE k = 2; DELETE FROM t WHERE k = 3; INSERT INTO t VALUES (1000, 5, 'x', 1)")
        .await;
    assert_eq!(other.run("SELECT count(*) FROM t").await, "100\nSELECT 1");
    let state = "SELECT indisvalid, indisready FROM pg_index WHERE indexrelid = 'i'::regclass";
    assert_eq!(other.run(state).await, "f|f\nSELECT 1");
    assert!(other.run("CHECK INDEX i").await.starts_with("ERROR 55000 index \"i\" is not built yet"));
    assert!(other.run("REINDEX INDEX CONCURRENTLY i").await.starts_with("ERROR 55000"));
    // After a while the client gets a notice with the phase of the build.
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert!(!build.is_finished());
    w.client.ok("COMMIT").await;
    let answer = build.await.unwrap();
    assert!(answer.contains("CREATE INDEX") && answer.contains("waiting for writers before build"), "{answer}");
    assert_eq!(w.client.run(state).await, "t|t\nSELECT 1");
    assert_eq!(w.verify("t").await, 100);
    w.client.ok("SET bennu.index_choice = force").await;
    let explained = w.client.run("EXPLAIN SELECT k FROM t WHERE a = -2").await;
    assert!(explained.contains("using i on t"), "{explained}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_that_is_locked_is_indexed_when_it_is_free() {
    let mut w = world(5000).await;
    let build = spawn(&w, "SET bennu.job_rate = 2000; CREATE INDEX CONCURRENTLY i ON t (a)");
    until_phase(&w, "building index").await;
    // Locked rows may stay unchanged, so that only the build adds their entries.
    w.client.ok("BEGIN; SAVEPOINT s; UPDATE t SET a = 0 WHERE k IN (4990, 4991, 4992); ROLLBACK TO s").await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    w.client.ok("UPDATE t SET a = -k WHERE k = 4991").await;
    tokio::time::sleep(Duration::from_millis(3000)).await;
    // All other rows are indexed by now.
    assert!(!build.is_finished());
    w.client.ok("COMMIT").await;
    let answer = build.await.unwrap();
    assert!(answer.contains("CREATE INDEX") && !answer.contains("ERROR"), "{answer}");
    assert_eq!(w.verify("t").await, 5000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_index_whose_definition_changes_meanwhile_is_not_replaced() {
    let mut w = world(3000).await;
    w.client.ok("CREATE INDEX i ON t (a)").await;
    let build = spawn(&w, "SET bennu.job_rate = 2000; REINDEX INDEX CONCURRENTLY i");
    until_phase(&w, "building index").await;
    w.client.ok("ALTER TABLE t ADD COLUMN late int DEFAULT 7 CASCADE INDEX i").await;
    let answer = build.await.unwrap();
    assert!(answer.contains("ERROR 55006 index \"i\" was changed while it was rebuilt"), "{answer}");
    assert_eq!(w.verify("t").await, 3000);
    assert_eq!(w.table("t").await.indexes.len(), 1);
    w.client.ok("SET bennu.index_choice = force").await;
    assert_eq!(w.client.run("SELECT a, late FROM t WHERE a = 17").await, "17|7\nSELECT 1");
    w.client.ok("REINDEX INDEX CONCURRENTLY i").await;
    assert_eq!(w.verify("t").await, 3000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn duplicates_fail_the_build_and_nothing_is_left() {
    let mut w = world(3000).await;
    w.client.ok("INSERT INTO t VALUES (5000, 17, 'twice', 1)").await;
    let before = w.storages().await;
    for statement in ["CREATE UNIQUE INDEX CONCURRENTLY u ON t (a)", "CREATE UNIQUE INDEX u ON t (a)"] {
        let answer = w.client.run(statement).await;
        assert!(
            answer.contains("ERROR 23505 could not create unique index \"u\"\nDETAIL Key (a)=(17) is duplicated."),
            "{answer}"
        );
        until(&w, "SELECT count(*) FROM bennu.jobs WHERE state NOT IN ('failed', 'succeeded')", "0").await;
        assert!(w.table("t").await.indexes.is_empty());
        assert_eq!(w.storages().await, before);
    }
    assert!(w.client.run("SHOW JOBS").await.starts_with("1|index build|CREATE INDEX u ON public.t|failed|"));
    let code = "SELECT error_code, finished > created FROM bennu.jobs";
    assert_eq!(w.client.run(code).await, "23505|t\nSELECT 1");
    // The name can be used again.
    w.client.ok("DELETE FROM t WHERE k = 5000; CREATE UNIQUE INDEX CONCURRENTLY u ON t (a)").await;
    assert_eq!(w.verify("t").await, 3000);
    assert!(w.client.run("INSERT INTO t VALUES (5000, 17, 'twice', 1)").await.starts_with("ERROR 23505"));
}

/// A writer inserts a value that a row already indexed by the backfill has: one of the two fails.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_duplicate_that_comes_during_the_build_is_found() {
    let mut w = world(5000).await;
    let build = spawn(&w, "SET bennu.job_rate = 4000; CREATE UNIQUE INDEX CONCURRENTLY u ON t (a)");
    until_phase(&w, "building index").await;
    // One of the two fails: the writer if the entry exists already, else the build.
    let writer = w.client.run("INSERT INTO t VALUES (9999, 4999, 'twice', 1)").await;
    let built = build.await.unwrap();
    assert_ne!(writer.contains("23505"), built.contains("ERROR 23505"), "{writer} {built}");
    w.verify("t").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_are_paused_resumed_and_cancelled() {
    let mut w = world(5000).await;
    let before = w.storages().await;
    let answer = w.client.run("SET bennu.job_rate = 3000; CREATE INDEX i ON t (a) ASYNC").await;
    assert!(answer.contains("NOTICE 00000 CREATE INDEX i ON public.t goes on as job 1"), "{answer}");
    until_phase(&w, "building index").await;
    assert_eq!(w.client.run("PAUSE JOB 1").await, "PAUSE JOB");
    assert_eq!(w.client.run("SELECT state, phase FROM bennu.jobs").await, "paused|building index\nSELECT 1");
    assert_eq!(w.client.run("PAUSE JOB 1").await, "ERROR 55000 PAUSE JOB 1 is not possible: the job is paused");
    // Writers maintain the index while the job is paused.
    w.client.ok("UPDATE t SET a = -a WHERE k % 5 = 0; DELETE FROM t WHERE k % 50 = 1").await;
    assert_eq!(w.client.run("RESUME JOB 1").await, "RESUME JOB");
    until(&w, "SELECT state FROM bennu.jobs", "succeeded").await;
    assert_eq!(w.verify("t").await, 4900);
    let done = "SELECT rows_done > 4000, bytes_done > 10000, rows_total > 0 FROM bennu.jobs";
    assert_eq!(w.client.run(done).await, "t|t|t\nSELECT 1");
    assert!(w.client.run("CANCEL JOB 1").await.starts_with("ERROR 55000 CANCEL JOB 1 is not possible"));
    assert!(w.client.run("CANCEL JOB 77").await.starts_with("ERROR 42704 job 77 does not exist"));
    w.client.ok("DROP INDEX i").await;
    assert_eq!(w.storages().await, before);
    w.client.ok("CREATE UNIQUE INDEX i ON t (a) ASYNC").await;
    until_phase(&w, "building index").await;
    let progress = "SELECT command, phase, tuples_total > 0 FROM pg_stat_progress_create_index";
    assert_eq!(w.client.run(progress).await, "CREATE INDEX CONCURRENTLY|building index|t\nSELECT 1");
    assert_eq!(w.client.run("CANCEL JOB 2").await, "CANCEL JOB");
    assert_eq!(w.client.run("SELECT count(*) FROM pg_class WHERE relname = 'i'").await, "0\nSELECT 1");
    until(&w, "SELECT state FROM bennu.jobs WHERE id = 2", "cancelled").await;
    assert!(w.table("t").await.indexes.is_empty());
    assert_eq!(w.storages().await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_statement_that_is_out_of_time_takes_its_job_with_it() {
    let mut w = world(5000).await;
    let before = w.storages().await;
    let answer = w
        .client
        .run("SET statement_timeout = '300ms'; SET bennu.job_rate = 2000; CREATE INDEX CONCURRENTLY i ON t (a)")
        .await;
    assert!(answer.contains("ERROR 57014"), "{answer}");
    until(&w, "SELECT state FROM bennu.jobs", "cancelled").await;
    assert!(w.table("t").await.indexes.is_empty());
    assert_eq!(w.storages().await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_is_terminated_takes_its_job_with_it() {
    let mut w = world(5000).await;
    let before = w.storages().await;
    let build = spawn(&w, "SET bennu.job_rate = 2000; CREATE INDEX CONCURRENTLY i ON t (a)");
    until_phase(&w, "building index").await;
    let builder = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%CONCURRENTLY i ON t (a)'";
    w.client.ok(builder).await;
    assert!(build.await.unwrap().contains("ERROR 57P01"));
    until(&w, "SELECT state FROM bennu.jobs", "cancelled").await;
    assert!(w.table("t").await.indexes.is_empty());
    assert_eq!(w.storages().await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_goes_takes_its_job_with_it() {
    let w = world(5000).await;
    let before = w.storages().await;
    let build = spawn(&w, "SET bennu.job_rate = 2000; CREATE INDEX CONCURRENTLY i ON t (a)");
    until_phase(&w, "building index").await;
    build.abort();
    until(&w, "SELECT state FROM bennu.jobs", "cancelled").await;
    assert!(w.table("t").await.indexes.is_empty());
    assert_eq!(w.storages().await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_it_is_about_may_go_or_be_emptied() {
    let mut w = world(5000).await;
    w.client.ok("SET bennu.job_rate = 4000; CREATE INDEX i ON t (a) ASYNC").await;
    until_phase(&w, "building index").await;
    w.client.ok("DROP INDEX i").await;
    until(&w, "SELECT state, error FROM bennu.jobs", "cancelled|index \"i\" was dropped while it was built").await;
    w.client.ok("CREATE INDEX i ON t (a) ASYNC").await;
    until_phase(&w, "building index").await;
    w.client.ok("TRUNCATE t; INSERT INTO t VALUES (1, 2, 'three', 4)").await;
    until(&w, "SELECT state FROM bennu.jobs WHERE id = 2", "succeeded").await;
    assert_eq!(w.verify("t").await, 1);
    w.client.ok("INSERT INTO t SELECT g, g, 'b', g FROM generate_series(2, 5000) AS s (g)").await;
    w.client.ok("CREATE INDEX j ON t (b) ASYNC").await;
    until_phase(&w, "building index").await;
    w.client.ok("DROP TABLE t").await;
    until(&w, "SELECT state FROM bennu.jobs WHERE id = 3", "cancelled").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_build_goes_on_after_a_restart() {
    let mut w = world(6000).await;
    w.client.ok("SET bennu.job_rate = 6000; CREATE INDEX i ON t (a) ASYNC").await;
    until(&w, "SELECT rows_done > 1500 FROM bennu.jobs", "t").await;
    let store = Arc::clone(&w.store);
    // Without `close`: the tasks end with the engine.
    let engine = Arc::downgrade(&w.engine);
    drop(w);
    while engine.upgrade().is_some() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let mut w = World::over(store).await;
    w.client.ok("UPDATE t SET a = -a WHERE k % 3 = 0").await;
    assert!(!w.client.run("SELECT state FROM bennu.jobs").await.starts_with("pending|paused"));
    until(&w, "SELECT state FROM bennu.jobs", "succeeded").await;
    // The job continued from its position.
    let rows: u64 = w.client.run("SELECT rows_done FROM bennu.jobs").await.lines().next().unwrap().parse().unwrap();
    assert!((6000..9000).contains(&rows), "{rows}");
    assert_eq!(w.verify("t").await, 6000);
}

#[tokio::test]
async fn what_concurrently_does_not_take() {
    let mut w = world(10).await;
    w.client.ok("CREATE INDEX i ON t (a); CREATE INDEX j ON t (b)").await;
    assert!(w.client.run("BEGIN; CREATE INDEX CONCURRENTLY n ON t (a)").await.contains("ERROR 0A000"));
    w.client.run("ROLLBACK").await;
    assert!(w.client.run("DROP INDEX CONCURRENTLY i, j").await.starts_with("ERROR 0A000 DROP INDEX CONCURRENTLY"));
    assert!(w.client.run("DROP INDEX CONCURRENTLY i CASCADE").await.starts_with("ERROR 0A000"));
    assert!(w.client.run("CREATE INDEX CONCURRENTLY i ON t (a)").await.starts_with("ERROR 42P07"));
    assert!(
        w.client.run("CREATE INDEX CONCURRENTLY IF NOT EXISTS i ON t (a)").await.contains("already exists, skipping")
    );
    assert!(w.client.run("CREATE INDEX CONCURRENTLY n ON t (none)").await.starts_with("ERROR 42703"));
    assert!(w.client.run("REINDEX INDEX CONCURRENTLY nothing").await.starts_with("ERROR 42P01"));
    assert_eq!(w.verify("t").await, 10);
}

/// In an older snapshot a newer index has no entries.
#[tokio::test]
async fn a_block_that_repeats_its_reads_reads_by_no_index_of_later() {
    let mut w = world(200).await;
    for statement in ["CREATE INDEX i ON t (a)", "CREATE INDEX CONCURRENTLY j ON t (b)", "REINDEX TABLE CONCURRENTLY t"]
    {
        let mut reader = Client::of(&w.engine);
        reader.ok("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT count(*) FROM t").await;
        w.client.ok(statement).await;
        for query in [
            "SELECT k FROM t WHERE a = 77",
            "SELECT max(k) FROM t WHERE a = 77",
            "SELECT k FROM t WHERE b = 'b0' AND a = 77",
        ] {
            assert_eq!(reader.run(query).await, "77\nSELECT 1", "{query} after {statement}");
        }
        reader.ok("COMMIT").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rebuild_as_a_job_makes_a_disabled_index_whole_and_readable() {
    let mut w = world(500).await;
    w.client.ok("CREATE UNIQUE INDEX i ON t (a)").await;
    w.client.ok("ALTER INDEX i ON t DISABLE").await;
    w.client.ok("UPDATE t SET a = a + 1; DELETE FROM t WHERE k = 7").await;
    let answer = w.client.run("ALTER INDEX i ON t REBUILD ASYNC").await;
    assert!(answer.contains("goes on as job"), "{answer}");
    until(&w, "SELECT state FROM bennu.jobs ORDER BY id DESC LIMIT 1", "succeeded").await;
    assert_eq!(w.client.run("SELECT indisvalid FROM pg_index WHERE indexrelid = 'i'::regclass").await, "t\nSELECT 1");
    assert_eq!(w.client.run("CHECK TABLE t").await, "CHECK 0");
    assert!(w.client.run("INSERT INTO t VALUES (1000, 10)").await.contains("ERROR 23505"));
    assert_eq!(w.table("t").await.indexes.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_rebuild_as_a_job_names_the_index() {
    let mut w = world(10).await;
    w.client.ok("CREATE UNIQUE INDEX i ON t (a)").await;
    w.client.ok("ALTER INDEX i ON t DISABLE").await;
    w.client.ok("UPDATE t SET a = 5").await;
    let answer = w.client.run("ALTER INDEX i ON t REBUILD ASYNC").await;
    assert!(answer.contains("goes on as job"), "{answer}");
    until(&w, "SELECT state FROM bennu.jobs ORDER BY id DESC LIMIT 1", "failed").await;
    let job = w.client.run("SELECT error_code, error, description FROM bennu.jobs ORDER BY id DESC LIMIT 1").await;
    assert!(job.contains("23505|could not create unique index \"i\""), "{job}");
    assert!(!job.contains("ccnew"), "{job}");
}
