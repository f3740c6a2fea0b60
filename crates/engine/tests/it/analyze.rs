//! The statistics that ANALYZE keeps, their lifetime, and statements that run beside it.

use crate::client::{Client, engine, engine_over};
use engine::{AutoAnalyzeOptions, Engine, EngineOptions};
use std::sync::Arc;
use std::time::Duration;
use store_fjall::{FjallStore, Options};
use store_testkit::ModelStore;

const STATS: &str = "SELECT attname, null_frac, n_distinct, most_common_vals, histogram_bounds FROM pg_stats WHERE tablename = 't' ORDER BY attname";

async fn fill(c: &mut Client) {
    c.ok("CREATE TABLE t (k integer PRIMARY KEY, a integer, b text)").await;
    c.ok("CREATE INDEX i ON t (a); CREATE INDEX e ON t (upper(b))").await;
    c.ok("INSERT INTO t SELECT x, x % 4, CASE WHEN x % 2 = 0 THEN 'even' END FROM generate_series(1, 1000) x").await;
}

#[tokio::test]
async fn statistics_survive_a_restart_a_rename_and_a_new_column() {
    let folder = tempfile::tempdir().unwrap();
    let open = || FjallStore::open(folder.path(), Options::default()).unwrap();
    let engine = engine_over(open()).await;
    let mut c = Client::of(&engine);
    fill(&mut c).await;
    c.ok("ANALYZE t").await;
    let found = c.run(STATS).await;
    assert!(found.contains("a|0|4|{0,1,2,3}|~"), "{found}");
    assert!(found.contains("b|0.5|1|{even}|~"), "{found}");
    drop(c);
    engine.close().await.unwrap();
    drop(engine);
    let engine = engine_over(open()).await;
    let mut c = Client::of(&engine);
    assert_eq!(c.run(STATS).await, found);
    assert_eq!(c.run("SELECT reltuples FROM pg_class WHERE relname IN ('t', 'i')").await, "1000\n1000\nSELECT 2");
    c.ok("ALTER TABLE t RENAME TO u; ALTER TABLE u ADD COLUMN c integer; ALTER TABLE u RENAME a TO a2").await;
    let renamed = c.run("SELECT attname, n_distinct FROM pg_stats WHERE tablename = 'u' ORDER BY 1").await;
    assert_eq!(renamed, "a2|4\nb|1\nk|-1\nSELECT 3");
    let of_index = c.run("SELECT attname, most_common_vals FROM pg_stats WHERE tablename = 'e'").await;
    assert_eq!(of_index, "upper|{EVEN}\nSELECT 1");
    engine.close().await.unwrap();
}

#[tokio::test]
async fn what_has_changed_its_type_or_was_emptied_is_not_misread() {
    let mut c = Client::new().await;
    fill(&mut c).await;
    c.ok("ANALYZE t; DROP INDEX i").await;
    c.ok("ALTER TABLE t ALTER COLUMN a TYPE text USING 'x' || a").await;
    assert_eq!(c.run("SELECT attname FROM pg_stats WHERE tablename = 't' ORDER BY 1").await, "b\nk\nSELECT 2");
    assert_eq!(c.run("SELECT count(*) FROM t WHERE a = 'x1'").await, "250\nSELECT 1");
    c.ok("TRUNCATE t").await;
    assert_eq!(c.run("SELECT reltuples FROM pg_class WHERE relname = 't'").await, "-1\nSELECT 1");
    c.ok("DROP TABLE t; CREATE TABLE t (k integer PRIMARY KEY)").await;
    assert_eq!(c.run("SELECT count(*) FROM pg_stats").await, "0\nSELECT 1");
}

#[tokio::test]
async fn a_dropped_table_leaves_no_row_of_the_catalog() {
    let store = Arc::new(ModelStore::new());
    let engine = engine_over(store.clone()).await;
    let mut c = Client::of(&engine);
    let rows = async || {
        let (catalog, all) = (store::TableId(1), [store::KeyRange::all()]);
        let size = store::Store::estimate(store.as_ref(), catalog, store::FamilyId(0), &all);
        size.await.unwrap().rows
    };
    c.ok("CREATE TABLE other (k integer PRIMARY KEY); ANALYZE other").await;
    let before = rows().await;
    fill(&mut c).await;
    c.ok("ANALYZE t").await;
    assert_eq!(rows().await, before + 2);
    c.ok("DROP TABLE t").await;
    assert_eq!(rows().await, before);
}

#[tokio::test]
async fn changes_since_the_last_analyze_are_counted() {
    let mut c = Client::new().await;
    fill(&mut c).await;
    let counted = "SELECT n_tup_ins, n_tup_upd, n_tup_del, n_mod_since_analyze, last_analyze IS NOT NULL, analyze_count FROM pg_stat_user_tables";
    assert_eq!(c.run(counted).await, "1000|0|0|1000|f|0\nSELECT 1");
    c.ok("ANALYZE").await;
    c.ok("UPDATE t SET b = 'x' WHERE k <= 10; DELETE FROM t WHERE k <= 3; INSERT INTO t VALUES (0, 0, NULL)").await;
    assert_eq!(c.run(counted).await, "1001|10|3|14|t|1\nSELECT 1");
    c.ok("ANALYZE t (a)").await;
    assert_eq!(c.run(counted).await, "1001|10|3|0|t|2\nSELECT 1");
}

#[tokio::test]
async fn a_table_that_has_changed_enough_is_analyzed_by_itself() {
    let auto_analyze = AutoAnalyzeOptions { pause: Duration::from_millis(20), ..AutoAnalyzeOptions::default() };
    let options = EngineOptions { query_threads: 2, auto_analyze, ..EngineOptions::default() };
    let engine = Engine::open(Arc::new(ModelStore::new()), options).await.unwrap();
    let mut c = Client::of(&engine);
    assert_eq!(c.run("SHOW autovacuum_naptime").await, "20ms");
    c.ok("CREATE TABLE quiet (k integer PRIMARY KEY) WITH (autovacuum_enabled = false)").await;
    c.ok("CREATE TABLE few (k integer PRIMARY KEY); INSERT INTO few SELECT generate_series(1, 50)").await;
    c.ok("INSERT INTO quiet SELECT generate_series(1, 500)").await;
    fill(&mut c).await;
    let seen = "SELECT relname, autoanalyze_count > 0 FROM pg_stat_user_tables ORDER BY relname";
    for _ in 0..500 {
        if c.run(seen).await.contains("t|t") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(c.run(seen).await, "few|f\nquiet|f\nt|t\nSELECT 3");
    let times = c.run(
        "SELECT last_analyze, last_autoanalyze > now() - interval '1 h' FROM pg_stat_user_tables WHERE relname = 't'",
    );
    assert_eq!(times.await, "~|t\nSELECT 1");
    engine.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_truncates_and_drops_go_on_beside_analyze() {
    let engine = engine().await;
    let mut c = Client::of(&engine);
    fill(&mut c).await;
    let other = Arc::clone(&engine);
    let writer = tokio::spawn(async move {
        let mut c = Client::of(&other);
        for round in 0..40 {
            c.ok(&format!(
                "INSERT INTO t SELECT x, x, 'w' FROM generate_series({0}, {0} + 20) x",
                10_000 + round * 100
            ))
            .await;
            c.ok(&format!("CREATE TABLE v{round} (k integer PRIMARY KEY); DROP TABLE v{round}")).await;
            if round % 8 == 0 {
                c.ok("TRUNCATE t").await;
            }
        }
    });
    while !writer.is_finished() {
        c.ok("ANALYZE").await;
    }
    writer.await.unwrap();
    c.ok("ANALYZE").await;
    let counted =
        c.run("SELECT (SELECT count(*) FROM t) = (SELECT reltuples::bigint FROM pg_class WHERE relname = 't')").await;
    assert_eq!(counted, "t\nSELECT 1");
}

#[tokio::test]
async fn a_sample_is_bounded_and_can_be_stopped() {
    let mut c = Client::new().await;
    c.ok("CREATE TABLE wide (k integer PRIMARY KEY, v text)").await;
    c.ok("INSERT INTO wide SELECT x, repeat(x::text, 60) FROM generate_series(1, 4000) x").await;
    c.ok("SET default_statistics_target = 1; ANALYZE wide").await;
    let kept = c
        .run("SELECT count(*), max(length(histogram_bounds::text)) < 600 FROM pg_stats WHERE tablename = 'wide'")
        .await;
    assert_eq!(kept, "2|t\nSELECT 1");
    c.ok("SET statement_timeout = '1ms'; RESET default_statistics_target").await;
    let mut stopped = String::new();
    for _ in 0..20 {
        stopped = c.run("ANALYZE wide").await;
        if stopped.contains("57014") {
            break;
        }
    }
    assert!(stopped.contains("57014"), "{stopped}");
    c.ok("RESET statement_timeout").await;
    c.ok("ANALYZE wide").await;
}
