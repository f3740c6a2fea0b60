//! Statements of others beside TRUNCATE: they see the table before or after, and never that it is gone.

use crate::client::{Client, engine_over};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use store::Store;
use store_fjall::FjallStore;
use store_testkit::ModelStore;

const ROUNDS: usize = 40;
const STATEMENTS: [&str; 8] = [
    "SELECT count(*) FROM t",
    "SELECT v FROM t WHERE k = 7",
    "SELECT k FROM t WHERE k BETWEEN 3 AND 9 ORDER BY k",
    "SELECT count(*) FROM t a JOIN t b ON a.v = b.v",
    "INSERT INTO u SELECT k FROM t ON CONFLICT DO NOTHING",
    "UPDATE u SET k = k WHERE k IN (SELECT k FROM t)",
    "BEGIN; INSERT INTO w SELECT k FROM t; UPDATE w SET k = (SELECT count(*) FROM t); COMMIT",
    "BEGIN; DELETE FROM w WHERE k NOT IN (SELECT k FROM t); COMMIT",
];

async fn no_statement_fails(store: Arc<dyn Store>) {
    let engine = engine_over(store).await;
    let mut owner = Client::of(&engine);
    owner.ok("CREATE TABLE t (k integer PRIMARY KEY, v integer); CREATE TABLE u (k integer PRIMARY KEY); CREATE TABLE w (k bigint)").await;
    let done = Arc::new(AtomicBool::new(false));
    let others: Vec<_> = STATEMENTS
        .iter()
        .map(|statement| {
            let (mut other, done) = (Client::of(&engine), Arc::clone(&done));
            tokio::spawn(async move {
                while !done.load(Ordering::Relaxed) {
                    other.ok(statement).await;
                }
            })
        })
        .collect();
    for _ in 0..ROUNDS {
        owner.ok("INSERT INTO t SELECT i, i FROM generate_series(1, 10) g(i); TRUNCATE t").await;
    }
    done.store(true, Ordering::Relaxed);
    for other in others {
        other.await.unwrap();
    }
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
