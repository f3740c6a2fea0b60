//! Every statement that writes rows maintains their index entries.

use super::World;
use crate::copy::copy;
use engine::EngineOptions;
use store_fjall::FjallStore;
use types::Datum;

const TABLE: &str = "CREATE TABLE t (k integer PRIMARY KEY, a integer, b text, n numeric, UNIQUE (a));
                     CREATE INDEX ON t (b DESC, n) INCLUDE (a); CREATE INDEX ON t (n)";

async fn every_statement(mut w: World) {
    w.client.ok(TABLE).await;
    let statements = [
        ("INSERT INTO t VALUES (1, 10, 'x', 1.0), (2, 20, NULL, 2.50), (3, NULL, 'z', NULL)", 3),
        ("UPSERT INTO t VALUES (1, 11, 'xx', 1.00)", 3),
        ("UPSERT INTO t (k, b) VALUES (1, 'y')", 3),
        ("UPSERT INTO t (k, b) VALUES (4, 'y')", 4),
        ("INSERT INTO t VALUES (1, 0, 'q', 0), (6, 60, 'q', 0) ON CONFLICT DO NOTHING", 5),
        ("INSERT INTO t VALUES (1, 0, 'q', 0), (7, 70, 'q', 0) ON CONFLICT (k) DO UPDATE SET n = t.n + 1, a = 12", 6),
        ("INSERT INTO t VALUES (9, 12, 'q', 0) ON CONFLICT (a) DO UPDATE SET k = excluded.k", 6),
        ("UPDATE t SET n = n + 1 WHERE k = 2", 6),
        // An equal value with another representation.
        ("UPDATE t SET n = 3.500 WHERE k = 2", 6),
        ("UPDATE t SET b = b || k WHERE k > 2", 6),
        ("UPDATE t SET k = k + 1", 6),
        ("UPDATE t SET a = a + 10, k = k + 1", 6),
        ("DELETE FROM t WHERE k = 5", 5),
        ("DELETE FROM t WHERE b IS NULL", 4),
        ("INSERT INTO t SELECT k + 1000, a + 1000, b, n FROM t", 8),
        ("INSERT INTO t SELECT g, g, 'b' || g % 7, g / 3 FROM generate_series(10001, 40000) AS s (g)", 30_008),
        ("UPDATE t SET a = a + 1, n = NULL WHERE k > 39000", 30_008),
        ("DELETE FROM t WHERE k > 10100", 108),
        ("TRUNCATE t", 0),
    ];
    for (statement, rows) in statements {
        w.client.ok(statement).await;
        assert_eq!(w.verify("t").await, rows, "{statement}");
    }
    let lines: String = (1..=3000).map(|n| format!("{n}\t{n}\tb{n}\t{n}.5\n")).collect();
    copy(&mut w.client, "COPY t FROM STDIN", &lines, 5000).await.unwrap();
    assert_eq!(w.verify("t").await, 3000);
    let twice = copy(&mut w.client, "COPY t FROM STDIN", "5001\t1\tx\t1\n", 100).await.unwrap_err();
    assert_eq!((twice.code(), twice.constraint()), ("23505", Some("t_a_key")));
    assert_eq!(twice.detail(), Some("Key (a)=(1) already exists."));
    w.client.ok("BEGIN").await;
    copy(&mut w.client, "COPY t FROM STDIN", "5001\t5001\tx\t1\n", 100).await.unwrap();
    w.client.ok("COMMIT").await;
    let mut append = w.client.session.append("t", &["k", "a"]).await.unwrap();
    append.row(vec![Datum::Int4(6000), Datum::Int4(6000)]).await.unwrap();
    append.finish(&mut w.client.session).await.unwrap();
    assert_eq!(w.verify("t").await, 3002);
}

#[tokio::test]
async fn every_statement_over_the_model() {
    every_statement(World::new().await).await;
}

#[tokio::test]
async fn every_statement_over_the_embedded_store() {
    every_statement(World::embedded().await).await;
}

#[tokio::test]
async fn prepared_statements_follow_indexes_that_come_and_go() {
    let mut w = World::new().await;
    w.client.ok("CREATE TABLE t (k integer PRIMARY KEY, a integer)").await;
    let insert = w.client.session.prepare("INSERT INTO t VALUES ($1, $2)", &[]).await.unwrap();
    let upsert = w.client.session.prepare("UPSERT INTO t VALUES ($1, $2)", &[]).await.unwrap();
    let row = |k, a| [Datum::Int4(k), Datum::Int4(a)];
    assert_eq!(w.client.run_prepared(&insert, &row(1, 1)).await, "INSERT 0 1");
    w.client.ok("CREATE UNIQUE INDEX i ON t (a)").await;
    assert!(w.client.run_prepared(&insert, &row(2, 1)).await.starts_with("ERROR 23505"));
    assert_eq!(w.client.run_prepared(&upsert, &row(1, 5)).await, "INSERT 0 1");
    assert_eq!(w.client.run_prepared(&insert, &row(2, 1)).await, "INSERT 0 1");
    assert_eq!(w.verify("t").await, 2);
    w.client.ok("DROP INDEX i").await;
    assert_eq!(w.client.run_prepared(&insert, &row(3, 1)).await, "INSERT 0 1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statements_of_more_rows_than_memory_holds() {
    let (folder, spill) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let options = store_fjall::Options { temporary: true, ..store_fjall::Options::default() };
    let store = FjallStore::open(folder.path().join("data"), options).unwrap();
    let spill_dir = Some(spill.path().to_owned());
    let options = EngineOptions { query_threads: 2, memory_bytes: 8 << 20, spill_dir, ..EngineOptions::default() };
    let engine = engine::Engine::open(store.clone(), options).await.unwrap();
    let client = crate::client::Client::of(&engine);
    let mut w = World { engine, store, client };
    w.client.ok("CREATE TABLE t (k integer PRIMARY KEY, a integer UNIQUE, pad text); CREATE INDEX ON t (pad)").await;
    let rows = "SELECT k, k, repeat('x', 800) || k % 10 FROM generate_series(1, 12000) AS g(k)";
    assert_eq!(w.client.run(&format!("INSERT INTO t {rows}")).await, "INSERT 0 12000");
    assert_eq!(w.verify("t").await, 12_000);
    for shifted in ["a = a + 1", "k = k + 1", "k = k + 1, a = a - 1, pad = pad || 'y'"] {
        assert_eq!(w.client.run(&format!("UPDATE t SET {shifted}")).await, "UPDATE 12000", "{shifted}");
        assert_eq!(w.verify("t").await, 12_000);
    }
    let refused = w.client.run("UPDATE t SET a = a / 2").await;
    assert!(refused.starts_with("ERROR 23505") && refused.contains("t_a_key"), "{refused}");
    assert_eq!(w.verify("t").await, 12_000);
    assert_eq!(w.client.run("DELETE FROM t WHERE k > 100").await, "DELETE 11902");
    assert_eq!(w.verify("t").await, 98);
}
