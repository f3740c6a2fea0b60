//! A failed CREATE INDEX leaves nothing behind.

use super::World;
use crate::client::engine_over;
use std::sync::Arc;

#[tokio::test]
async fn duplicates_are_named_and_nothing_is_left() {
    let mut w = World::embedded().await;
    w.client.ok("CREATE TABLE t (k integer PRIMARY KEY, a integer, b text)").await;
    w.client.ok("INSERT INTO t VALUES (1, 1, 'x'), (2, 2, 'y'), (3, 1, 'x'), (4, NULL, 'x'), (5, NULL, 'x')").await;
    let before = w.storages().await;
    let failed = w.client.run("CREATE UNIQUE INDEX i ON t (b, a)").await;
    assert_eq!(failed, "ERROR 23505 could not create unique index \"i\"\nDETAIL Key (b, a)=(x, 1) is duplicated.");
    let nulls = w.client.run("CREATE UNIQUE INDEX i ON t (a) NULLS NOT DISTINCT").await;
    assert!(nulls.starts_with("ERROR 23505 could not create unique index \"i\""), "{nulls}");
    assert_eq!(w.storages().await, before);
    w.client.ok("CREATE UNIQUE INDEX i ON t (k, a)").await;
    w.verify("t").await;
    assert_eq!(w.storages().await.len(), before.len() + 1);
    w.client.ok("REINDEX INDEX i").await;
    assert_eq!(w.storages().await.len(), before.len() + 1);
    w.verify("t").await;
    w.client.ok("DROP INDEX i").await;
    assert_eq!(w.storages().await, before);
}

#[tokio::test]
async fn a_build_that_is_stopped_leaves_nothing() {
    let mut w = World::embedded().await;
    w.client.ok("CREATE TABLE t (k integer PRIMARY KEY, a integer)").await;
    w.client.ok("INSERT INTO t SELECT g, g / 2 FROM generate_series(1, 200000) AS s (g)").await;
    let before = w.storages().await;
    w.client.ok("SET statement_timeout = 30").await;
    for statement in ["CREATE INDEX i ON t (a)", "ALTER TABLE t ADD UNIQUE (a, k)"] {
        let stopped = w.client.run(statement).await;
        assert!(stopped.starts_with("ERROR 57014"), "{stopped}");
    }
    w.client.ok("SET statement_timeout = 0").await;
    assert_eq!(w.storages().await, before);
    w.client.ok("CREATE INDEX i ON t (a)").await;
    assert_eq!(w.verify("t").await, 200_000);
}

#[tokio::test]
async fn a_restart_keeps_indexes() {
    let mut w = World::new().await;
    w.client.ok("CREATE TABLE t (k integer PRIMARY KEY, a integer UNIQUE); CREATE INDEX i ON t (a DESC)").await;
    w.client.ok("INSERT INTO t VALUES (1, 1), (2, 2)").await;
    let engine = engine_over(Arc::clone(&w.store)).await;
    let client = crate::client::Client::of(&engine);
    let mut again = World { engine, store: Arc::clone(&w.store), client };
    assert_eq!(again.verify("t").await, 2);
    assert!(again.client.run("INSERT INTO t VALUES (3, 1)").await.starts_with("ERROR 23505"));
}

#[tokio::test]
async fn readers_go_on_while_an_index_is_made() {
    let mut w = World::embedded().await;
    w.client.ok("CREATE TABLE t (k integer PRIMARY KEY, a integer); INSERT INTO t VALUES (1, 1)").await;
    // The build waits for transactions that have written; readers block neither.
    w.client.ok("BEGIN; INSERT INTO t VALUES (2, 2)").await;
    let mut builder = crate::client::Client::of(&w.engine);
    let built = tokio::spawn(async move { builder.run("CREATE INDEX i ON t (a)").await });
    let mut reader = crate::client::Client::of(&w.engine);
    while reader.run("SELECT count(*) FROM pg_locks WHERE NOT granted").await != "1\nSELECT 1" {}
    assert_eq!(reader.run("SELECT * FROM t").await, "1|1\nSELECT 1");
    w.client.ok("COMMIT").await;
    assert_eq!(built.await.unwrap(), "CREATE INDEX");
    assert_eq!(w.verify("t").await, 2);
}
