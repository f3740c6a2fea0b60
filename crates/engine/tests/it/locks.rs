//! `pg_locks`: held locks, their holders, and waiting sessions.

use crate::client::{Client, engine};
use std::time::Duration;

const LOCKS: &str = "SELECT locktype, relation::regclass, mode, granted, pid = pg_backend_pid() FROM pg_locks \
    ORDER BY granted DESC, locktype";

#[tokio::test]
async fn locks_are_shown_with_their_sessions_while_they_are_held() {
    let engine = engine().await;
    let (mut holder, mut waiter) = (Client::of(&engine), Client::of(&engine));
    holder.ok("CREATE TABLE t (k integer PRIMARY KEY, v integer); INSERT INTO t VALUES (1, 0)").await;
    assert_eq!(holder.run(LOCKS).await, "SELECT 0");
    holder.ok("BEGIN").await;
    holder.ok("UPDATE t SET v = 1 WHERE k = 1").await;
    let held = "relation|t|RowExclusiveLock|t|t\ntuple|t|ExclusiveLock|t|t";
    assert_eq!(holder.run(LOCKS).await, format!("{held}\nSELECT 2"));
    assert_eq!(Client::of(&engine).run(LOCKS).await, format!("{}\nSELECT 2", held.replace("|t|t", "|t|f")));

    let waiting = tokio::spawn(async move { waiter.run("UPDATE t SET v = 2 WHERE k = 1").await });
    let waits = "SELECT count(*) FROM pg_locks WHERE NOT granted AND pid <> pg_backend_pid()";
    while holder.run(waits).await != "1\nSELECT 1" {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    holder.ok("COMMIT").await;
    assert_eq!(waiting.await.unwrap(), "UPDATE 1");
    assert_eq!(holder.run(LOCKS).await, "SELECT 0");

    holder.ok("BEGIN").await;
    holder.ok("LOCK TABLE t IN SHARE MODE").await;
    assert_eq!(holder.run(LOCKS).await, "relation|t|AccessExclusiveLock|t|t\nSELECT 1");
}
