//! Advisory locks between sessions: waits, their ends, and deadlocks that involve row locks.

use crate::client::{Client, engine, waiting_are};

async fn can_lock(client: &mut Client, key: &str) -> bool {
    let locked = client.run(&format!("SELECT pg_try_advisory_lock({key})")).await == "t\nSELECT 1";
    if locked {
        assert_eq!(client.run(&format!("SELECT pg_advisory_unlock({key})")).await, "t\nSELECT 1");
    }
    locked
}

#[tokio::test]
async fn a_session_waits_for_the_other() {
    let engine = engine().await;
    let (mut one, mut other) = (Client::of(&engine), Client::of(&engine));
    one.ok("SELECT pg_advisory_lock(1), pg_advisory_lock(1)").await;
    assert!(!can_lock(&mut other, "1").await);
    assert!(can_lock(&mut other, "0, 1").await);
    let waits = tokio::spawn(async move {
        other.ok("SELECT pg_advisory_lock(1)").await;
        other
    });
    waiting_are(&engine, 1).await;
    one.ok("SELECT pg_advisory_unlock(1)").await;
    waiting_are(&engine, 1).await;
    one.ok("SELECT pg_advisory_unlock(1)").await;
    let mut other = waits.await.unwrap();
    assert!(!can_lock(&mut one, "1").await);
    other.ok("DISCARD ALL").await;
    assert!(can_lock(&mut one, "1").await);
}

#[tokio::test]
async fn locks_of_a_session_end_with_it() {
    let engine = engine().await;
    let (mut one, mut other) = (Client::of(&engine), Client::of(&engine));
    one.ok("SELECT pg_advisory_lock(7)").await;
    one.ok("BEGIN; SELECT pg_advisory_xact_lock(8)").await;
    assert!(!can_lock(&mut other, "7").await);
    drop(one);
    assert!(can_lock(&mut other, "7").await);
    assert!(can_lock(&mut other, "8").await);
}

#[tokio::test]
async fn locks_of_a_transaction_end_with_it() {
    let engine = engine().await;
    let (mut one, mut other) = (Client::of(&engine), Client::of(&engine));
    // A single statement is a transaction. It has ended when its end is reported, though query threads may still run
    // it.
    for _ in 0..100 {
        one.ok("SELECT pg_advisory_xact_lock(n) FROM generate_series(1, 3) AS g(n)").await;
        assert!(can_lock(&mut other, "1").await);
        one.run("SELECT pg_advisory_xact_lock(n), 1 / (n - 3) FROM generate_series(1, 3) AS g(n)").await;
        assert!(can_lock(&mut other, "1").await);
    }
    for end in ["COMMIT", "ROLLBACK", "SELECT 1 / 0"] {
        one.ok("BEGIN").await;
        one.ok("SELECT pg_advisory_xact_lock(1)").await;
        one.ok("SELECT pg_advisory_unlock(1)").await;
        assert!(!can_lock(&mut other, "1").await, "{end}");
        one.run(end).await;
        assert!(can_lock(&mut other, "1").await, "{end}");
        one.run("ROLLBACK").await;
    }
    one.ok("BEGIN").await;
    one.ok("SELECT pg_advisory_xact_lock(1)").await;
    one.ok("SAVEPOINT s").await;
    one.ok("SELECT pg_advisory_xact_lock(1), pg_advisory_xact_lock(2), pg_advisory_lock(3)").await;
    one.ok("ROLLBACK TO s").await;
    assert!(!can_lock(&mut other, "1").await);
    assert!(can_lock(&mut other, "2").await);
    assert!(!can_lock(&mut other, "3").await);
    one.ok("COMMIT").await;
    assert!(can_lock(&mut other, "1").await);
    assert!(!can_lock(&mut other, "3").await);
}

#[tokio::test]
async fn shared_locks_go_together() {
    let engine = engine().await;
    let (mut one, mut other) = (Client::of(&engine), Client::of(&engine));
    one.ok("SELECT pg_advisory_lock_shared(1), pg_advisory_lock(1)").await;
    let shared = "SELECT pg_try_advisory_lock_shared(1)";
    assert_eq!(other.run(shared).await, "f\nSELECT 1");
    // The remaining lock is shared.
    one.ok("SELECT pg_advisory_unlock(1)").await;
    assert_eq!(other.run(shared).await, "t\nSELECT 1");
    assert!(!can_lock(&mut one, "1").await);
    other.ok("SELECT pg_advisory_unlock_all()").await;
    assert!(can_lock(&mut one, "1").await);
}

#[tokio::test]
async fn a_wait_is_limited_and_leaves_nothing_behind() {
    let engine = engine().await;
    let (mut one, mut other) = (Client::of(&engine), Client::of(&engine));
    one.ok("SELECT pg_advisory_lock(1)").await;
    other.ok("PREPARE l AS SELECT pg_advisory_lock($1)").await;
    other.ok("SET lock_timeout = '20ms'").await;
    for lock in ["SELECT pg_advisory_lock(1)", "EXECUTE l(1)"] {
        assert_eq!(other.run(lock).await, "ERROR 55P03 canceling statement due to lock timeout", "{lock}");
    }
    other.ok("SET lock_timeout = 0; SET statement_timeout = '20ms'").await;
    for lock in ["SELECT pg_advisory_lock(1)", "EXECUTE l(1)"] {
        assert_eq!(other.run(lock).await, "ERROR 57014 canceling statement due to statement timeout", "{lock}");
    }
    one.ok("SELECT pg_advisory_unlock(1)").await;
    assert!(can_lock(&mut one, "1").await);
    assert_eq!(one.run("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'").await, "0\nSELECT 1");
}

#[tokio::test]
async fn a_circle_over_a_row_and_a_number_is_a_deadlock() {
    let engine = engine().await;
    let (mut one, mut other) = (Client::of(&engine), Client::of(&engine));
    one.ok("CREATE TABLE t (k integer PRIMARY KEY, v integer); INSERT INTO t VALUES (1, 0)").await;
    one.ok("BEGIN; UPDATE t SET v = 1 WHERE k = 1").await;
    other.ok("SELECT pg_advisory_lock(5)").await;
    let waits = tokio::spawn(async move {
        let done = other.run("UPDATE t SET v = 2 WHERE k = 1").await;
        (other, done)
    });
    waiting_are(&engine, 1).await;
    let failed = one.run("SELECT pg_advisory_lock(5)").await;
    assert!(failed.starts_with("ERROR 40P01 deadlock detected"), "{failed}");
    one.ok("ROLLBACK").await;
    let (_other, done) = waits.await.unwrap();
    assert_eq!(done, "UPDATE 1");
}
