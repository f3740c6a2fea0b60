//! Materialized views beside other sessions, jobs and restarts.

use crate::client::{Client, engine, engine_over};
use engine::Engine;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use store::{Store, TableId};
use store_fjall::{FjallStore, Options};
use store_testkit::ModelStore;

const SUMS: &str = "SELECT count(*), sum(v) FROM m";

/// Creates a table of pairs of rows with opposite values, and a view of it.
async fn pairs(c: &mut Client, with: &str) {
    c.ok("CREATE TABLE t (k int PRIMARY KEY, v int)").await;
    c.ok(
        "INSERT INTO t SELECT g, CASE g % 2 WHEN 0 THEN g / 2 ELSE -(g / 2) END FROM generate_series(0, 599) AS s (g)",
    )
    .await;
    c.ok(&format!("CREATE MATERIALIZED VIEW m {with} AS SELECT k, v FROM t")).await;
    c.ok("CREATE UNIQUE INDEX m_k ON m (k)").await;
    c.ok("CREATE INDEX m_v ON m (v)").await;
}

/// Number of tables in the store besides the catalog: those of definitions, and any that a refresh left behind.
async fn storages(store: &Arc<dyn Store>) -> usize {
    let mut count = 0;
    for id in 2..500 {
        count += usize::from(store.regions(TableId(id)).await.is_ok());
    }
    count
}

/// An engine over the model store, with that store.
async fn model() -> (Arc<Engine>, Arc<dyn Store>) {
    let store: Arc<dyn Store> = Arc::new(ModelStore::new());
    (engine_over(Arc::clone(&store)).await, store)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn readers_see_whole_refreshes_and_never_wait() {
    let engine = engine().await;
    let mut c = Client::of(&engine);
    pairs(&mut c, "").await;
    let stop = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> = (0..2)
        .map(|_| {
            let (mut reader, stop) = (Client::of(&engine), Arc::clone(&stop));
            tokio::spawn(async move {
                let mut reads = 0;
                while !stop.load(Ordering::Relaxed) {
                    // A refresh contains both rows of a pair or none, so the sum is 0.
                    let answer = reader.run("SELECT sum(v) FROM m").await;
                    assert_eq!(answer, "0\nSELECT 1");
                    let answer = reader.run("SELECT count(*) FROM m WHERE k = 1").await;
                    assert_eq!(answer, "1\nSELECT 1");
                    reads += 1;
                }
                reads
            })
        })
        .collect();
    let writer = {
        let (mut writer, stop) = (Client::of(&engine), Arc::clone(&stop));
        tokio::spawn(async move {
            let mut at = 1000;
            while !stop.load(Ordering::Relaxed) {
                writer.ok(&format!("INSERT INTO t VALUES ({at}, {at}), ({}, -{at})", at + 1)).await;
                writer.ok(&format!("UPDATE t SET v = v * 2 WHERE k IN ({}, {})", at % 100 * 2, at % 100 * 2 + 1)).await;
                at += 2;
            }
        })
    };
    for round in 0..6 {
        c.ok(if round % 2 == 0 { "REFRESH MATERIALIZED VIEW CONCURRENTLY m" } else { "REFRESH MATERIALIZED VIEW m" })
            .await;
    }
    stop.store(true, Ordering::Relaxed);
    for reader in readers {
        assert!(reader.await.unwrap() > 5);
    }
    writer.await.unwrap();
    assert_eq!(c.run("CHECK TABLE m").await, "CHECK 0");
    c.ok("REFRESH MATERIALIZED VIEW CONCURRENTLY m").await;
    assert_eq!(c.run(SUMS).await, c.run("SELECT count(*), sum(v) FROM t").await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn refreshes_of_one_view_wait_for_each_other_and_for_drops() {
    let (engine, store) = model().await;
    let mut c = Client::of(&engine);
    pairs(&mut c, "").await;
    let all: Vec<_> = (0..6)
        .map(|at| {
            let mut other = Client::of(&engine);
            let how = if at % 2 == 0 { "CONCURRENTLY" } else { "" };
            tokio::spawn(async move { other.run(&format!("REFRESH MATERIALIZED VIEW {how} m")).await })
        })
        .collect();
    for one in all {
        assert_eq!(one.await.unwrap(), "REFRESH MATERIALIZED VIEW");
    }
    assert_eq!(c.run("CHECK TABLE m").await, "CHECK 0");
    let mut other = Client::of(&engine);
    let refresh = tokio::spawn(async move { other.run("REFRESH MATERIALIZED VIEW m").await });
    c.ok("DROP TABLE t CASCADE").await;
    let answer = refresh.await.unwrap();
    assert!(answer == "REFRESH MATERIALIZED VIEW" || answer.contains("42P01"), "{answer}");
    assert_eq!(storages(&store).await, 0, "nothing is left");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refresh_concurrently_writes_only_what_differs() {
    let engine = engine().await;
    let mut c = Client::of(&engine);
    pairs(&mut c, "").await;
    c.ok("UPDATE t SET v = 7 WHERE k = 5; DELETE FROM t WHERE k = 6; INSERT INTO t VALUES (1000, 1)").await;
    let written = |engine: &Arc<Engine>| {
        let of =
            |wanted: &str| engine.metrics().into_iter().find(|(name, _)| *name == wanted).map_or(0, |(_, value)| value);
        of("statement_rows_inserted_total") + of("statement_rows_updated_total") + of("statement_rows_deleted_total")
    };
    let before = written(&engine);
    c.ok("REFRESH MATERIALIZED VIEW CONCURRENTLY m").await;
    assert_eq!(written(&engine) - before, 4, "two leave, two come");
    assert_eq!(c.run("SELECT v FROM m WHERE k IN (5, 6, 1000) ORDER BY k").await, "7\n1\nSELECT 2");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_refreshes_again_and_again_and_goes_on_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let open = || FjallStore::open(folder.path(), Options::default()).unwrap();
    let engine = engine_over(open()).await;
    let mut c = Client::of(&engine);
    pairs(&mut c, "WITH (refresh = '1 second')").await;
    c.ok("INSERT INTO t VALUES (1000, 1)").await;
    c.until(SUMS, "601|1").await;
    // A failed refresh is reported, and the rows stay.
    c.ok("CREATE TABLE d (x int); INSERT INTO d VALUES (1)").await;
    c.ok("CREATE MATERIALIZED VIEW q WITH (refresh = '1 second') AS SELECT 10 / x AS q FROM d").await;
    c.ok("UPDATE d SET x = 0").await;
    let error = "SELECT error_code, state <> 'failed' FROM bennu.jobs WHERE description LIKE '%q'";
    c.until(error, "22012|t").await;
    assert_eq!(c.run("SELECT q FROM q").await, "10\nSELECT 1");
    c.ok("UPDATE d SET x = 5").await;
    c.until("SELECT q FROM q", "2").await;
    drop(c);
    engine.close().await.unwrap();
    drop(engine);
    let engine = engine_over(open()).await;
    let mut c = Client::of(&engine);
    c.ok("INSERT INTO t VALUES (1001, 2)").await;
    c.until(SUMS, "602|3").await;
    // A paused job does not refresh; a resumed job does.
    c.ok("PAUSE JOB 1").await;
    c.ok("INSERT INTO t VALUES (1002, 3)").await;
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert!(c.run(SUMS).await.starts_with("602|3"));
    c.ok("RESUME JOB 1").await;
    c.until(SUMS, "603|6").await;
    // Dropping the view cancels its job.
    c.ok("DROP MATERIALIZED VIEW m").await;
    c.until("SELECT state FROM bennu.jobs WHERE id = 1", "cancelled").await;
    c.ok("ALTER MATERIALIZED VIEW q RESET (refresh)").await;
    c.until("SELECT state FROM bennu.jobs WHERE id = 2", "succeeded").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refresh_that_is_cancelled_leaves_the_rows_and_no_storage() {
    let (engine, store) = model().await;
    let mut c = Client::of(&engine);
    c.ok("CREATE TABLE n (x bigint); INSERT INTO n VALUES (1)").await;
    c.ok("CREATE MATERIALIZED VIEW m AS SELECT count(*) AS c FROM n, generate_series(1, 3) AS g (i) WHERE i > x").await;
    c.ok("DROP MATERIALIZED VIEW m").await;
    let endless = "SELECT count(*) AS c FROM n, generate_series(1, 10000000) a (i), generate_series(1, 10000000) b (j)";
    c.ok(&format!("CREATE MATERIALIZED VIEW m AS {endless} WHERE i * j = -x WITH NO DATA")).await;
    let before = storages(&store).await;
    c.ok("SET statement_timeout = 200").await;
    assert!(c.run("REFRESH MATERIALIZED VIEW m").await.contains("ERROR 57014"));
    assert_eq!(storages(&store).await, before);
    assert!(c.run("SELECT * FROM m").await.contains("ERROR 55000"));
    // The same for the refresh of a job.
    c.ok("ALTER MATERIALIZED VIEW m SET (refresh = '1 second')").await;
    c.until("SELECT phase FROM bennu.jobs", "refreshing").await;
    c.ok("CANCEL JOB 1").await;
    c.until("SELECT state FROM bennu.jobs", "cancelled").await;
    assert_eq!(c.run("SELECT refresh, job FROM bennu.materialized_views").await, "~|~\nSELECT 1");
}
