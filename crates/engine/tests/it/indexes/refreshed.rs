//! Indexes that a job refreshes: beside writers, after a restart, and when the job or the index is dropped.

use super::World;
use crate::client::{Client, engine_over};
use store_fjall::{FjallStore, Options};

const SUMS: &str = "SELECT count(*), sum(b) FROM t WHERE b >= -1000000";

async fn make(c: &mut Client) {
    c.ok("CREATE TABLE t (a int PRIMARY KEY, b int, pad text)").await;
    // Pairs of rows with opposite values.
    c.ok("INSERT INTO t SELECT g, CASE g % 2 WHEN 0 THEN g ELSE 1 - g END, repeat('p', 100) FROM generate_series(0, 599) AS s (g)")
        .await;
    c.ok("CREATE INDEX t_b ON t (b) WITH (refresh = '1 second')").await;
}

/// Makes a session read stale entries.
async fn accept_stale_entries(c: &mut Client) {
    c.ok("SET bennu.max_staleness = '1d'; SET bennu.row_programs = off; SET bennu.index_choice = force").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_job_refreshes_the_entries_beside_writers_and_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let open = || FjallStore::open(folder.path(), Options::default()).unwrap();
    let engine = engine_over(open()).await;
    let (mut c, mut old) = (Client::of(&engine), Client::of(&engine));
    make(&mut c).await;
    accept_stale_entries(&mut old).await;
    let plan = old.run(&format!("EXPLAIN {SUMS}")).await;
    assert!(plan.contains("Index only scan using t_b"), "{plan}");
    assert_eq!(old.run(SUMS).await, "600|0\nSELECT 1");
    // Each transaction keeps the sum, so every refresh has a snapshot with that sum.
    for n in 0..40 {
        let (from, to) = (1000 + n * 2, 1001 + n * 2);
        c.ok(&format!("INSERT INTO t VALUES ({from}, {from}, 'x'), ({to}, -{from}, 'y')")).await;
        let sums = old.run(SUMS).await;
        assert!(sums.ends_with("|0\nSELECT 1"), "{sums}");
    }
    old.until(SUMS, "680|0").await;
    let jobs = c.run("SELECT kind FROM bennu.jobs").await;
    assert_eq!(jobs, "index refresh\nSELECT 1");
    drop((c, old));
    engine.close().await.unwrap();
    drop(engine);
    let engine = engine_over(open()).await;
    let (mut c, mut old) = (Client::of(&engine), Client::of(&engine));
    accept_stale_entries(&mut old).await;
    c.ok("INSERT INTO t VALUES (5000, 1, 'x'), (5001, -1, 'y')").await;
    old.until(SUMS, "682|0").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_job_ends_with_its_index_and_an_index_stays_without_its_job() {
    let mut world = World::new().await;
    make(&mut world.client).await;
    let c = &mut world.client;
    let number = c.run("SELECT job FROM bennu.refreshed_indexes").await;
    let number = number.lines().next().unwrap().to_string();
    c.ok(&format!("CANCEL JOB {number}")).await;
    c.until("SELECT state FROM bennu.jobs", "cancelled").await;
    assert_eq!(c.run("SELECT indexname, refresh, job FROM bennu.refreshed_indexes").await, "t_b|~|~\nSELECT 1");
    c.ok("ALTER INDEX t_b ON t REBUILD; DROP INDEX t_b").await;
    c.ok("CREATE INDEX t_b ON t (b) WITH (refresh = '1 second')").await;
    c.ok("DROP INDEX t_b").await;
    c.until("SELECT count(*) FROM bennu.jobs WHERE state IN ('pending', 'running')", "0").await;
    c.ok("CREATE INDEX t_b ON t (b) WITH (refresh = '1 second')").await;
    c.ok("DROP TABLE t").await;
    c.until("SELECT count(*) FROM bennu.jobs WHERE state IN ('pending', 'running')", "0").await;
}
