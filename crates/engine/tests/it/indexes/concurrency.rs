//! UNIQUE under concurrency: the second writer waits, and then sees the result of the first.

use super::World;
use crate::client::Client;
use std::time::Duration;
use store_testkit::Random;

const TABLE: &str = "CREATE TABLE t (k integer PRIMARY KEY, a integer UNIQUE, v integer DEFAULT 0)";

async fn waiting_is_one(w: &World) {
    let mut watcher = Client::of(&w.engine);
    while watcher.run("SELECT count(*) FROM pg_locks WHERE NOT granted").await != "1\nSELECT 1" {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test]
async fn the_second_of_two_equal_rows_waits_for_the_first() {
    for (end, expected) in [("COMMIT", "ERROR 23505"), ("ROLLBACK", "INSERT 0 1")] {
        let mut w = World::embedded().await;
        w.client.ok(TABLE).await;
        w.client.ok("BEGIN; INSERT INTO t VALUES (1, 7)").await;
        let mut other = Client::of(&w.engine);
        let waits = tokio::spawn(async move { other.run("INSERT INTO t VALUES (2, 7)").await });
        waiting_is_one(&w).await;
        w.client.ok(end).await;
        let answer = waits.await.unwrap();
        assert!(answer.starts_with(expected), "{end}: {answer}");
        assert_eq!(w.verify("t").await, 1);
    }
}

#[tokio::test]
async fn a_value_that_is_being_given_up_is_waited_for() {
    for leaving in ["DELETE FROM t WHERE k = 1", "UPDATE t SET a = 8 WHERE k = 1"] {
        for (end, expected) in [("COMMIT", "INSERT 0 1"), ("ROLLBACK", "ERROR 23505")] {
            let mut w = World::embedded().await;
            w.client.ok(TABLE).await;
            w.client.ok("INSERT INTO t VALUES (1, 7)").await;
            w.client.ok(&format!("BEGIN; {leaving}")).await;
            let mut other = Client::of(&w.engine);
            let waits = tokio::spawn(async move { other.run("INSERT INTO t VALUES (2, 7)").await });
            waiting_is_one(&w).await;
            w.client.ok(end).await;
            let answer = waits.await.unwrap();
            assert!(answer.starts_with(expected), "{leaving}, {end}: {answer}");
            w.verify("t").await;
        }
    }
}

/// The upsert waits for the row, not for its unique value, so that the update continues without a deadlock.
#[tokio::test]
async fn an_upsert_and_an_update_of_its_row_do_not_lock_each_other_out() {
    let mut w = World::embedded().await;
    w.client.ok(TABLE).await;
    w.client.ok("INSERT INTO t VALUES (1, 7)").await;
    w.client.ok("BEGIN; UPDATE t SET v = 1 WHERE k = 1").await;
    let mut other = Client::of(&w.engine);
    let upsert = "INSERT INTO t VALUES (2, 7) ON CONFLICT (a) DO UPDATE SET v = t.v + 10";
    let waits = tokio::spawn(async move { other.run(upsert).await });
    waiting_is_one(&w).await;
    w.client.ok("UPDATE t SET a = 8 WHERE k = 1; UPDATE t SET a = 7 WHERE k = 1; COMMIT").await;
    assert_eq!(waits.await.unwrap(), "INSERT 0 1");
    assert_eq!(w.client.run("SELECT * FROM t").await, "1|7|11\nSELECT 1");
    w.verify("t").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_writers_leave_no_value_twice() {
    let mut w = World::embedded().await;
    w.client.ok(TABLE).await;
    let mut tasks = Vec::new();
    for task in 0..8_u64 {
        let mut client = Client::of(&w.engine);
        tasks.push(tokio::spawn(async move {
            let mut random = Random::new(task + 1);
            let mut inserted = 0;
            for n in 0..150 {
                let (k, a) = (task * 1000 + n, random.below(60));
                let statement = match n % 5 {
                    0 => format!("DELETE FROM t WHERE k % 7 = {}", a % 7),
                    1 => format!("INSERT INTO t VALUES ({k}, {a}) ON CONFLICT (a) DO UPDATE SET v = t.v + 1"),
                    2 => format!("UPDATE t SET a = {a} WHERE k = {}", random.below(8) * 1000 + n),
                    _ => format!("INSERT INTO t VALUES ({k}, {a})"),
                };
                let answer = client.run(&statement).await;
                let expected = ["ERROR 23505", "ERROR 40P01", "INSERT", "UPDATE", "DELETE"];
                assert!(expected.iter().any(|it| answer.starts_with(it)), "{statement}\n{answer}");
                inserted += u32::from(answer == "INSERT 0 1");
            }
            inserted
        }));
    }
    for task in tasks {
        assert!(task.await.unwrap() > 0);
    }
    let doubled = w.client.run("SELECT a FROM t GROUP BY a HAVING count(*) > 1").await;
    assert_eq!(doubled, "SELECT 0");
    w.verify("t").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writers_go_on_where_an_index_is_made_and_dropped() {
    let mut w = World::embedded().await;
    w.client.ok("CREATE TABLE t (k integer PRIMARY KEY, a integer)").await;
    let mut tasks = Vec::new();
    for task in 0..4 {
        let mut client = Client::of(&w.engine);
        tasks.push(tokio::spawn(async move {
            for n in 0..200 {
                let k = task * 1000 + n;
                client.ok(&format!("INSERT INTO t VALUES ({k}, {n})")).await;
                client.ok(&format!("UPDATE t SET a = a + 1 WHERE k = {}", k - n % 3)).await;
                client
                    .ok(&format!("BEGIN; UPSERT INTO t VALUES ({k}, {n}); DELETE FROM t WHERE k = {}; COMMIT", k - 5))
                    .await;
            }
        }));
    }
    for _ in 0..12 {
        w.client.ok("CREATE INDEX i ON t (a)").await;
        tokio::time::sleep(Duration::from_millis(5)).await;
        w.client.ok("REINDEX INDEX i").await;
        assert_eq!(w.client.run("CHECK INDEX i").await, "CHECK 0");
        w.client.ok("DROP INDEX i").await;
    }
    w.client.ok("CREATE INDEX i ON t (a)").await;
    for task in tasks {
        task.await.unwrap();
    }
    w.verify("t").await;
}
