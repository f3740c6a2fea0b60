//! Statements that run beside TRUNCATE, and beside ALTER TABLE that rewrites the table: they see the table before or
//! after, and never fail because it is missing.

use crate::client::{Client, engine_over};
use engine::Engine;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use store::Store;
use store_fjall::FjallStore;
use store_testkit::ModelStore;

const ROUNDS: usize = 40;
/// Statements that must succeed, whatever the table contains at the moment.
const STATEMENTS: [(&[&str], &str); 11] = [
    (&["SELECT count(*) FROM t"], ""),
    (&["SELECT v FROM t WHERE k = 7"], ""),
    (&["SELECT k FROM t WHERE k BETWEEN 3 AND 9 ORDER BY k"], ""),
    (&["SELECT count(*) FROM t a JOIN t b ON a.v = b.v"], ""),
    (&["INSERT INTO u SELECT k FROM t ON CONFLICT DO NOTHING"], ""),
    (&["UPDATE u SET k = k WHERE k IN (SELECT k FROM t)"], ""),
    (&["BEGIN; INSERT INTO w SELECT k FROM t; UPDATE w SET k = (SELECT count(*) FROM t); COMMIT"], ""),
    (&["EXPLAIN ANALYZE SELECT k FROM t WHERE v > 3 ORDER BY v"], ""),
    (&["EXPLAIN ANALYZE UPDATE u SET k = k WHERE k IN (SELECT k FROM t)"], ""),
    (&["COPY (SELECT * FROM t) TO STDOUT"], ""),
    (&["BEGIN; DELETE FROM w WHERE k NOT IN (SELECT k FROM t); COMMIT"], ""),
];

/// Sessions repeat their statements, whose answers must contain a text, while `owner` runs `ROUNDS` times.
async fn beside(engine: &Arc<Engine>, asked: &'static [(&'static [&'static str], &'static str)], owner: &[&str]) {
    let done = Arc::new(AtomicBool::new(false));
    let others: Vec<_> = asked
        .iter()
        .map(|(statements, wanted)| {
            let (mut other, done) = (Client::of(engine), Arc::clone(&done));
            tokio::spawn(async move {
                while !done.load(Ordering::Relaxed) {
                    let mut answers = String::new();
                    for statement in *statements {
                        answers += &other.run(statement).await;
                    }
                    assert!(answers.contains(wanted) && !answers.contains("ERROR"), "{statements:?}\n{answers}");
                }
            })
        })
        .collect();
    let mut changes = Client::of(engine);
    for _ in 0..ROUNDS {
        for statement in owner {
            changes.ok(statement).await;
        }
    }
    done.store(true, Ordering::Relaxed);
    for other in others {
        other.await.unwrap();
    }
}

async fn no_statement_fails(store: Arc<dyn Store>) {
    let engine = engine_over(store).await;
    Client::of(&engine).ok("CREATE TABLE t (k integer PRIMARY KEY, v integer); CREATE TABLE u (k integer PRIMARY KEY); CREATE TABLE w (k bigint)").await;
    beside(&engine, &STATEMENTS, &["INSERT INTO t SELECT i, i FROM generate_series(1, 10) g(i); TRUNCATE t"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn statements_beside_truncate_see_the_table_before_or_after() {
    no_statement_fails(Arc::new(ModelStore::new())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn statements_beside_truncate_see_the_table_before_or_after_in_the_embedded_store() {
    let options = store_fjall::Options { temporary: true, ..store_fjall::Options::default() };
    no_statement_fails(FjallStore::open(tempfile::tempdir().unwrap().keep(), options).unwrap()).await;
}

/// Statements that another session runs one by one, and what their answers contain: all ten rows.
const READS: [(&[&str], &str); 5] = [
    (&["SELECT count(v) FROM t"], "10\nSELECT 1"),
    (&["COPY (SELECT count(v) FROM t) TO STDOUT"], "10\nCOPY 1"),
    (&["CREATE TABLE made AS SELECT * FROM t", "SELECT count(v) FROM made", "DROP TABLE made"], "10\nSELECT 1"),
    (&["REFRESH MATERIALIZED VIEW seen", "SELECT count(*) FROM seen"], "10\nSELECT 1"),
    (&["EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT v + 1 FROM t ORDER BY v + 1"], "actual rows=10"),
];

async fn reads_are_whole(store: Arc<dyn Store>) {
    let engine = engine_over(store).await;
    let mut c = Client::of(&engine);
    c.ok("CREATE TABLE t (k integer PRIMARY KEY, v integer)").await;
    c.ok("INSERT INTO t SELECT i, i FROM generate_series(1, 10) g(i)").await;
    c.ok("CREATE MATERIALIZED VIEW seen AS SELECT k FROM t").await;
    beside(&engine, &READS, &["ALTER TABLE t ALTER COLUMN v TYPE bigint", "ALTER TABLE t ALTER COLUMN v TYPE integer"])
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn reads_beside_a_rewrite_find_all_rows() {
    reads_are_whole(Arc::new(ModelStore::new())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn reads_beside_a_rewrite_find_all_rows_in_the_embedded_store() {
    let options = store_fjall::Options { temporary: true, ..store_fjall::Options::default() };
    reads_are_whole(FjallStore::open(tempfile::tempdir().unwrap().keep(), options).unwrap()).await;
}
