//! Single statements that want the same rows: they wait for each other, and none fails.

use crate::client::{Client, engine, engine_over, waiting_are};
use std::sync::Arc;
use store_testkit::{FaultPlan, FaultStore, ModelStore, Point, Random, from_environment};
use types::Datum;

/// A commit releases its locks before it is published, and rows that it deleted are visible until then.
#[tokio::test]
async fn a_row_whose_deletion_is_not_published_yet_is_waited_for() {
    let plan = FaultPlan::default();
    let engine = engine_over(Arc::new(FaultStore::new(Arc::new(ModelStore::new()), plan.clone()))).await;
    let (mut one, mut other) = (Client::of(&engine), Client::of(&engine));
    one.ok("CREATE TABLE t (k integer PRIMARY KEY, v integer); INSERT INTO t VALUES (1, 0), (2, 0), (3, 0)").await;
    one.ok("BEGIN; DELETE FROM t WHERE k = 2").await;
    let waits = tokio::spawn(async move { other.run("UPDATE t SET v = v + 1 WHERE v >= 0").await });
    waiting_are(&engine, 1).await;
    plan.delay(Point::Sync, 100_000);
    one.ok("COMMIT").await;
    assert_eq!(waits.await.unwrap(), "UPDATE 2");
    assert_eq!(one.run("SELECT k, v FROM t ORDER BY k").await, "1|1\n3|1\nSELECT 2");
}

/// As in PostgreSQL: locked rows are rechecked, and rows that were inserted meanwhile are left to the next statement.
#[tokio::test]
async fn rows_that_changed_are_judged_anew_under_their_locks() {
    let engine = engine().await;
    let (mut one, mut other) = (Client::of(&engine), Client::of(&engine));
    one.ok("CREATE TABLE t (k integer PRIMARY KEY, v integer); INSERT INTO t VALUES (1, 0), (2, 0), (3, 0)").await;
    one.ok("BEGIN; UPDATE t SET v = 10 WHERE k = 2; UPDATE t SET v = 5 WHERE k = 3; INSERT INTO t VALUES (0, 0)").await;
    let waits = tokio::spawn(async move { other.run("UPDATE t SET v = v + 1 WHERE v < 9").await });
    waiting_are(&engine, 1).await;
    one.ok("COMMIT").await;
    assert_eq!(waits.await.unwrap(), "UPDATE 2");
    assert_eq!(one.run("SELECT k, v FROM t ORDER BY k").await, "0|0\n1|1\n2|10\n3|6\nSELECT 4");
}

#[tokio::test]
async fn a_row_that_moved_to_another_key_is_followed() {
    let engine = engine().await;
    let (mut one, mut other) = (Client::of(&engine), Client::of(&engine));
    one.ok("CREATE TABLE t (k integer PRIMARY KEY, v integer); INSERT INTO t VALUES (1, 0), (2, 0), (3, 0)").await;
    one.ok("BEGIN; UPDATE t SET k = 0 WHERE k = 2").await;
    let waits = tokio::spawn(async move { other.run("UPDATE t SET v = v + 1 WHERE v >= 0").await });
    waiting_are(&engine, 1).await;
    one.ok("COMMIT").await;
    assert_eq!(waits.await.unwrap(), "UPDATE 3");
    assert_eq!(one.run("SELECT k, v FROM t ORDER BY k").await, "0|1\n1|1\n3|1\nSELECT 3");
}

/// The choice of the row depends on other rows, so the next one is taken.
#[tokio::test]
async fn takers_of_the_first_row_take_one_each() {
    let engine = engine().await;
    let mut client = Client::of(&engine);
    client.ok("CREATE TABLE q (k integer PRIMARY KEY)").await;
    client.ok("INSERT INTO q SELECT g FROM generate_series(1, 40) AS g").await;
    let take = |mut taker: Client| async move {
        let mut taken = Vec::new();
        for _ in 0..10 {
            taken.push(taker.run("DELETE FROM q WHERE k = (SELECT min(k) FROM q) RETURNING k").await);
        }
        taken
    };
    let takers: Vec<_> = (0..4).map(|_| tokio::spawn(take(Client::of(&engine)))).collect();
    let mut taken = Vec::new();
    for taker in takers {
        taken.extend(taker.await.unwrap());
    }
    taken.sort_unstable();
    let mut wanted: Vec<String> = (1..=40).map(|k| format!("{k}\nDELETE 1")).collect();
    wanted.sort_unstable();
    assert_eq!(taken, wanted);
}

/// The single statement closes the deadlock: it releases its locks, and runs again when the block has ended.
#[tokio::test]
async fn a_lone_statement_that_meets_a_deadlock_runs_again() {
    let engine = engine().await;
    let (mut block, mut brake, mut lone) = (Client::of(&engine), Client::of(&engine), Client::of(&engine));
    block.ok("CREATE TABLE t (k integer PRIMARY KEY, v integer); INSERT INTO t VALUES (1, 0), (5, 0), (9, 0)").await;
    block.ok("BEGIN; UPDATE t SET v = v + 10 WHERE k = 9").await;
    brake.ok("BEGIN; SELECT 1; UPDATE t SET v = v + 100 WHERE k = 5").await;
    let lone = tokio::spawn(async move { lone.run("UPDATE t SET v = v + 1 WHERE k > 0 RETURNING k").await });
    waiting_are(&engine, 1).await;
    let block = tokio::spawn(async move {
        block.ok("UPDATE t SET v = v + 10 WHERE k = 1").await;
        block.ok("COMMIT").await;
    });
    waiting_are(&engine, 2).await;
    brake.ok("COMMIT").await;
    block.await.unwrap();
    assert_eq!(lone.await.unwrap(), "1\n5\n9\nUPDATE 3");
    assert_eq!(brake.run("SELECT k, v FROM t ORDER BY k").await, "1|11\n5|101\n9|11\nSELECT 3");
}

/// Runs the statements of one client. Returns how often it added one to a row, according to the command tags.
async fn add_and_move(mut client: Client, seed: u64, statements: usize) -> u64 {
    let mut numbers = Random::new(seed);
    let mut added = 0;
    for _ in 0..statements {
        let (row, group) = (numbers.below(30), numbers.below(3));
        let (text, adds) = match numbers.below(8) {
            0 => (format!("UPDATE t SET v = v + 1 WHERE k = {row}"), true),
            1 => (format!("UPDATE t SET v = v + 1 WHERE k IN ({row}, {}, {})", 29 - row, group), true),
            2 => (format!("UPDATE t SET v = v + 1 WHERE id % 3 = {group}"), true),
            3 => (format!("UPDATE t SET v = t.v + 1 FROM u WHERE u.id = t.id AND u.g = {group}"), true),
            4 => ("UPDATE t SET v = v + 1 WHERE k = (SELECT max(k) FROM t)".to_owned(), true),
            5 => (format!("UPDATE t SET k = k + 100 * (1 - 2 * (k / 100)) WHERE id % 10 = {}", row % 10), false),
            6 => (format!("UPDATE t SET k = k WHERE k > {row}"), false),
            _ => (format!("DELETE FROM u WHERE id = {}; INSERT INTO u VALUES ({0}, {group})", 100 + row), false),
        };
        for text in text.split("; ") {
            let answer = client.run(text).await;
            // Two clients may insert the same row.
            assert!(!answer.contains("ERROR") || answer.contains("ERROR 23505"), "seed {seed}: {text}\n{answer}");
            if adds {
                added += answer.rsplit(' ').next().unwrap().parse::<u64>().unwrap();
            }
        }
    }
    added
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn lone_statements_never_fail_for_others_and_lose_no_update() {
    let plan = FaultPlan::default();
    let engine = engine_over(Arc::new(FaultStore::new(Arc::new(ModelStore::new()), plan.clone()))).await;
    let mut client = Client::of(&engine);
    client.ok("CREATE TABLE t (k integer PRIMARY KEY, id integer, v integer)").await;
    client.ok("CREATE TABLE u (id integer PRIMARY KEY, g integer)").await;
    client.ok("INSERT INTO t SELECT g, g, 0 FROM generate_series(0, 29) AS g").await;
    client.ok("INSERT INTO u SELECT g, g % 3 FROM generate_series(0, 29) AS g").await;
    plan.delay(Point::Sync, 20);
    let seed = from_environment("BENNU_SEED", 1);
    let clients: Vec<_> = (0..6).map(|i| tokio::spawn(add_and_move(Client::of(&engine), seed + i, 60))).collect();
    let mut added = 0;
    for client in clients {
        added += client.await.unwrap();
    }
    let sum = client.execute("SELECT sum(v), count(*), count(DISTINCT id) FROM t", &[] as &[Datum]).await;
    assert_eq!(sum, format!("{added}|30|30\nSELECT 1"), "seed {seed}");
}
