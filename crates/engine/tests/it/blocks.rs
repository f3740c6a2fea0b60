//! Transaction blocks, alone and concurrently.

use crate::client::{Client, engine};
use std::time::Duration;

const TABLE: &str = "CREATE TABLE t (k integer PRIMARY KEY, v text)";

#[tokio::test]
async fn a_block_reads_its_own_writes_and_others_see_them_at_commit() {
    let engine = engine().await;
    let (mut a, mut b) = (Client::of(&engine), Client::of(&engine));
    a.ok(TABLE).await;
    assert_eq!(a.run("BEGIN").await, "BEGIN");
    assert_eq!(a.run("INSERT INTO t VALUES (1, 'mine')").await, "INSERT 0 1");
    assert_eq!(a.run("SELECT v FROM t WHERE k = 1").await, "mine\nSELECT 1");
    assert_eq!(b.run("SELECT v FROM t WHERE k = 1").await, "SELECT 0");
    assert_eq!(a.run("COMMIT").await, "COMMIT");
    assert_eq!(b.run("SELECT v FROM t WHERE k = 1").await, "mine\nSELECT 1");
}

#[tokio::test]
async fn rollback_leaves_nothing() {
    let mut c = Client::new().await;
    c.ok(TABLE).await;
    c.ok("INSERT INTO t VALUES (1, 'old')").await;
    c.ok("BEGIN; UPDATE t SET v = 'new' WHERE k = 1; INSERT INTO t VALUES (2, 'x')").await;
    assert_eq!(c.run("DELETE FROM t WHERE k = 1").await, "DELETE 1");
    assert_eq!(c.run("ROLLBACK").await, "ROLLBACK");
    assert_eq!(c.run("SELECT v FROM t WHERE k = 1").await, "old\nSELECT 1");
    assert_eq!(c.run("SELECT v FROM t WHERE k = 2").await, "SELECT 0");
}

#[tokio::test]
async fn after_an_error_a_block_takes_only_its_end() {
    let mut c = Client::new().await;
    c.ok(TABLE).await;
    c.ok("BEGIN; INSERT INTO t VALUES (1, 'x')").await;
    assert!(c.run("INSERT INTO t VALUES (1, 'y')").await.starts_with("ERROR 23505"));
    assert_eq!(c.session.status(), engine::TransactionStatus::Failed);
    let refused = "ERROR 25P02 current transaction is aborted, commands ignored until end of transaction block";
    assert_eq!(c.run("SELECT v FROM t WHERE k = 1").await, refused);
    assert_eq!(c.run("COMMIT").await, "ROLLBACK");
    assert_eq!(c.run("SELECT v FROM t WHERE k = 1").await, "SELECT 0");
}

#[tokio::test]
async fn a_second_writer_of_a_row_waits_and_builds_on_the_first() {
    let engine = engine().await;
    let (mut a, mut b) = (Client::of(&engine), Client::of(&engine));
    a.ok(TABLE).await;
    a.ok("INSERT INTO t VALUES (1, 'start')").await;
    a.ok("BEGIN; UPDATE t SET v = 'first' WHERE k = 1").await;
    let waiting = tokio::spawn(async move { b.run("UPDATE t SET k = 2 WHERE k = 1 RETURNING v").await });
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!waiting.is_finished());
    a.ok("COMMIT").await;
    assert_eq!(waiting.await.unwrap(), "first\nUPDATE 1");
}

#[tokio::test]
async fn rows_that_move_while_a_writer_waits_are_found_where_they_went() {
    let engine = engine().await;
    let (mut a, mut b, mut c) = (Client::of(&engine), Client::of(&engine), Client::of(&engine));
    a.ok(TABLE).await;
    a.ok("INSERT INTO t VALUES (1, 'x'), (2, 'y'), (3, 'z')").await;
    a.ok("BEGIN; UPDATE t SET k = k + 10 WHERE k < 3; DELETE FROM t WHERE k = 3").await;
    let update = tokio::spawn(async move { b.run("UPDATE t SET v = v || '!'").await });
    let delete = tokio::spawn(async move { c.run("DELETE FROM t WHERE v LIKE 'y%'").await });
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!update.is_finished() && !delete.is_finished());
    a.ok("COMMIT").await;
    assert_eq!(delete.await.unwrap(), "DELETE 1");
    let updated = update.await.unwrap();
    assert!(updated == "UPDATE 2" || updated == "UPDATE 1", "{updated}");
    assert_eq!(a.run("SELECT k, v FROM t").await, "11|x!\nSELECT 1");
}

#[tokio::test]
async fn a_circle_of_waits_is_broken() {
    let engine = engine().await;
    let (mut a, mut b) = (Client::of(&engine), Client::of(&engine));
    a.ok(TABLE).await;
    a.ok("INSERT INTO t VALUES (1, 'a'), (2, 'b')").await;
    a.ok("BEGIN; UPDATE t SET v = 'a1' WHERE k = 1").await;
    b.ok("BEGIN; UPDATE t SET v = 'b2' WHERE k = 2").await;
    let waiting = tokio::spawn(async move {
        let answer = a.run("UPDATE t SET v = 'a2' WHERE k = 2").await;
        (a, answer)
    });
    tokio::time::sleep(Duration::from_millis(50)).await;
    let refused = b.run("UPDATE t SET v = 'b1' WHERE k = 1").await;
    assert!(refused.starts_with("ERROR 40P01 deadlock detected"), "{refused}");
    // Its locks were released when it failed.
    let (mut a, answer) = waiting.await.unwrap();
    assert_eq!(answer, "UPDATE 1");
    assert_eq!(a.run("COMMIT").await, "COMMIT");
    assert_eq!(b.run("ROLLBACK").await, "ROLLBACK");
    assert_eq!(b.run("SELECT v FROM t WHERE k = 2").await, "a2\nSELECT 1");
}

#[tokio::test]
async fn waits_end_by_lock_timeout_statement_timeout_and_cancel() {
    let engine = engine().await;
    let (mut a, mut b) = (Client::of(&engine), Client::of(&engine));
    a.ok(TABLE).await;
    a.ok("BEGIN; INSERT INTO t VALUES (1, 'x')").await;
    b.ok("SET lock_timeout = '20ms'").await;
    let answer = b.run("INSERT INTO t VALUES (1, 'y')").await;
    assert_eq!(answer, "ERROR 55P03 canceling statement due to lock timeout");
    b.ok("SET lock_timeout = 0; SET statement_timeout = '20ms'").await;
    let answer = b.run("INSERT INTO t VALUES (1, 'y')").await;
    assert_eq!(answer, "ERROR 57014 canceling statement due to statement timeout");
    b.ok("SET statement_timeout = 0").await;
    let (process, secret) = (b.session.process_id(), b.session.secret());
    assert!(!engine.cancel(process, secret.wrapping_add(1)));
    let waiting = tokio::spawn(async move {
        let answer = b.run("INSERT INTO t VALUES (1, 'y')").await;
        (b, answer)
    });
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(engine.cancel(process, secret));
    let (mut b, answer) = waiting.await.unwrap();
    assert_eq!(answer, "ERROR 57014 canceling statement due to user request");
    // The session continues, and a cancel request that comes too late has no effect.
    assert!(engine.cancel(process, secret));
    assert_eq!(b.run("INSERT INTO t VALUES (2, 'y')").await, "INSERT 0 1");
}

/// The hint of errors for isolation levels that are not supported.
const LEVELS: &str = "\nHINT Blocks that write are READ COMMITTED; REPEATABLE READ is for blocks that begin READ ONLY.";

#[tokio::test]
async fn what_is_not_built_is_refused_by_name() {
    let mut c = Client::new().await;
    let cases = [
        ("BEGIN ISOLATION LEVEL SERIALIZABLE", "isolation level SERIALIZABLE is not supported", LEVELS),
        (
            "BEGIN ISOLATION LEVEL REPEATABLE READ",
            "isolation level REPEATABLE READ without READ ONLY is not supported",
            LEVELS,
        ),
        ("BEGIN DEFERRABLE", "DEFERRABLE is not supported", ""),
    ];
    for (text, answer, hint) in cases {
        assert_eq!(c.run(text).await, format!("ERROR 0A000 {answer}{hint}"));
    }
    c.ok("BEGIN").await;
    let refused = "ERROR 0A000 CREATE TABLE cannot run inside a transaction block\n\
                   HINT Run it outside of BEGIN and COMMIT, as a statement of its own; in a driver, turn autocommit on.";
    assert_eq!(c.run(TABLE).await, refused);
}

#[tokio::test]
async fn blocks_that_do_not_fit_are_warned_of() {
    let mut c = Client::new().await;
    assert_eq!(c.run("COMMIT").await, "COMMIT\nWARNING 25P01 there is no transaction in progress");
    assert_eq!(c.run("ROLLBACK").await, "ROLLBACK\nWARNING 25P01 there is no transaction in progress");
    c.ok("BEGIN").await;
    assert_eq!(c.run("BEGIN").await, "BEGIN\nWARNING 25001 there is already a transaction in progress");
}

#[tokio::test]
async fn a_query_of_several_statements_is_all_or_nothing() {
    let mut c = Client::new().await;
    c.ok(TABLE).await;
    let answer = c.run("INSERT INTO t VALUES (1, 'x'); INSERT INTO t VALUES (1, 'y')").await;
    assert!(answer.starts_with("INSERT 0 1\nERROR 23505"), "{answer}");
    assert_eq!(c.run("SELECT v FROM t WHERE k = 1").await, "SELECT 0");
    assert_eq!(c.session.status(), engine::TransactionStatus::Idle);
    // After a COMMIT or ROLLBACK within the query another implicit transaction begins.
    for end in ["BEGIN; INSERT INTO t VALUES (2, 'x'); COMMIT", "INSERT INTO t VALUES (3, 'x'); COMMIT", "ROLLBACK"] {
        let answer = c.run(&format!("{end}; INSERT INTO t VALUES (4, 'y'); SELECT 1 / 0")).await;
        assert!(answer.contains("ERROR 22012"), "{answer}");
        assert_eq!(c.session.status(), engine::TransactionStatus::Idle);
    }
    assert_eq!(c.run("SELECT k FROM t ORDER BY k").await, "2\n3\nSELECT 2");
    // DDL within the query works: the statements before it are committed.
    c.ok(
        "CREATE TABLE u (k integer PRIMARY KEY); INSERT INTO u VALUES (1); DROP TABLE u; INSERT INTO t VALUES (9, '')",
    )
    .await;
    assert_eq!(c.run("SELECT k FROM t WHERE k = 9").await, "9\nSELECT 1");
}

#[tokio::test]
async fn read_only_transactions_write_nothing() {
    let mut c = Client::new().await;
    c.ok(TABLE).await;
    c.ok("BEGIN READ ONLY").await;
    let refused = c.run("INSERT INTO t VALUES (1, 'x')").await;
    assert_eq!(refused, "ERROR 25006 cannot execute INSERT in a read-only transaction");
    c.ok("ROLLBACK").await;
    c.ok("INSERT INTO t VALUES (1, 'x')").await;
}

#[tokio::test]
async fn a_repeatable_read_block_sees_one_state_and_writes_nothing() {
    let engine = engine().await;
    let (mut a, mut b) = (Client::of(&engine), Client::of(&engine));
    a.ok(TABLE).await;
    a.ok("INSERT INTO t VALUES (1, 'before')").await;
    b.ok("BEGIN; SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY").await;
    // The snapshot is that of the first statement, not of BEGIN.
    a.ok("UPDATE t SET v = 'first' WHERE k = 1").await;
    assert_eq!(b.run("SELECT v FROM t WHERE k = 1").await, "first\nSELECT 1");
    a.ok("UPDATE t SET v = 'second' WHERE k = 1; INSERT INTO t VALUES (2, 'new')").await;
    assert_eq!(b.run("SELECT v FROM t WHERE k = 1").await, "first\nSELECT 1");
    assert_eq!(b.run("SELECT count(*) FROM t").await, "1\nSELECT 1");
    assert_eq!(b.run("COMMIT").await, "COMMIT");
    assert_eq!(b.run("SELECT count(*) FROM t").await, "2\nSELECT 1");
    // The snapshot may be old, so writes are rejected, even if READ ONLY was reset.
    b.ok("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET transaction_read_only = off").await;
    let refused = b.run("UPDATE t SET v = 'x'").await;
    assert_eq!(refused, format!("ERROR 0A000 UPDATE in isolation level REPEATABLE READ is not supported{LEVELS}"));
}

#[tokio::test]
async fn a_statement_that_fails_after_a_savepoint_leaves_what_was_before_it() {
    let engine = engine().await;
    let (mut a, mut b) = (Client::of(&engine), Client::of(&engine));
    a.ok(TABLE).await;
    a.ok("BEGIN; INSERT INTO t VALUES (1, 'a'); SAVEPOINT s; INSERT INTO t VALUES (2, 'a')").await;
    b.ok("SET lock_timeout = '20ms'; BEGIN; INSERT INTO t VALUES (3, 'b'); SAVEPOINT s").await;
    // Half of the statement is written when it waits for the lock.
    let answer = b.run("INSERT INTO t VALUES (4, 'b'), (1, 'b')").await;
    assert_eq!(answer, "ERROR 55P03 canceling statement due to lock timeout");
    b.ok("ROLLBACK TO s").await;
    assert_eq!(b.run("COMMIT").await, "COMMIT");
    a.ok("ROLLBACK TO s").await;
    assert_eq!(a.run("COMMIT").await, "COMMIT");
    assert_eq!(a.run("SELECT k FROM t ORDER BY k").await, "1\n3\nSELECT 2");
}
