//! SELECT … FOR UPDATE under concurrency: no session gets a row that another one has locked, and rows are read again
//! after a wait.

use crate::client::{Client, engine, waiting_are};
use engine::Engine;
use std::collections::HashSet;
use std::sync::Arc;

async fn table(engine: &Arc<Engine>) -> Client {
    let mut client = Client::of(engine);
    client.ok("CREATE TABLE t (id integer PRIMARY KEY, state text, v integer)").await;
    client.ok("INSERT INTO t SELECT i, 'new', 0 FROM generate_series(1, 5) AS g(i)").await;
    client
}

#[tokio::test]
async fn a_row_that_was_waited_for_is_judged_again() {
    let engine = engine().await;
    let mut one = table(&engine).await;
    let mut other = Client::of(&engine);
    one.ok("BEGIN; UPDATE t SET state = 'done' WHERE id = 1; UPDATE t SET v = 7 WHERE id = 2").await;
    let waits = tokio::spawn(async move {
        other.run("SELECT id, v FROM t WHERE state = 'new' ORDER BY id LIMIT 2 FOR UPDATE").await
    });
    waiting_are(&engine, 1).await;
    one.ok("COMMIT").await;
    assert_eq!(waits.await.unwrap(), "2|7\n3|0\nSELECT 2");
}

#[tokio::test]
async fn a_row_that_was_deleted_meanwhile_is_left_out() {
    let engine = engine().await;
    let mut one = table(&engine).await;
    let mut other = Client::of(&engine);
    one.ok("BEGIN; DELETE FROM t WHERE id = 1").await;
    let waits = tokio::spawn(async move { other.run("SELECT id FROM t WHERE id < 3 FOR SHARE").await });
    waiting_are(&engine, 1).await;
    one.ok("COMMIT").await;
    assert_eq!(waits.await.unwrap(), "2\nSELECT 1");
}

#[tokio::test]
async fn a_row_that_is_rolled_back_to_a_savepoint_is_for_who_waits() {
    let engine = engine().await;
    let mut one = table(&engine).await;
    let mut other = Client::of(&engine);
    one.ok("BEGIN; UPDATE t SET v = 10 WHERE id = 1; SAVEPOINT s; UPDATE t SET v = 10 WHERE id < 3").await;
    let waits = tokio::spawn(async move { other.run("UPDATE t SET v = v + 1 WHERE id = 2").await });
    waiting_are(&engine, 1).await;
    one.ok("ROLLBACK TO s").await;
    assert_eq!(waits.await.unwrap(), "UPDATE 1");
    one.ok("UPDATE t SET v = v + 1 WHERE id < 3; COMMIT").await;
    assert_eq!(one.run("SELECT id, v FROM t WHERE id < 3 ORDER BY id").await, "1|11\n2|2\nSELECT 2");
}

#[tokio::test]
async fn who_locked_a_row_is_not_overtaken() {
    let engine = engine().await;
    let mut one = table(&engine).await;
    let mut other = Client::of(&engine);
    one.ok("BEGIN; SELECT v FROM t WHERE id = 1 FOR UPDATE").await;
    let waits = tokio::spawn(async move { other.run("UPDATE t SET v = v + 1 WHERE id = 1").await });
    waiting_are(&engine, 1).await;
    one.ok("UPDATE t SET v = 10 WHERE id = 1; COMMIT").await;
    assert_eq!(waits.await.unwrap(), "UPDATE 1");
    assert_eq!(one.run("SELECT v FROM t WHERE id = 1").await, "11\nSELECT 1");
}

#[tokio::test]
async fn workers_of_a_queue_get_each_job_once() {
    let engine = engine().await;
    let mut client = Client::of(&engine);
    client.ok("CREATE TABLE jobs (id integer PRIMARY KEY, done boolean DEFAULT false)").await;
    client.ok("INSERT INTO jobs SELECT i FROM generate_series(1, 60) AS g(i)").await;
    let worker = || {
        let mut client = Client::of(&engine);
        async move {
            let mut got = Vec::new();
            loop {
                client.ok("BEGIN").await;
                let job =
                    client.run("SELECT id FROM jobs WHERE NOT done ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED").await;
                let Some(id) = job.strip_suffix("\nSELECT 1").map(str::to_string) else {
                    client.ok("COMMIT").await;
                    return got;
                };
                client.ok(&format!("UPDATE jobs SET done = true WHERE id = {id}")).await;
                client.ok("COMMIT").await;
                got.push(id);
            }
        }
    };
    let workers = [worker(), worker(), worker()].map(tokio::spawn);
    let mut all = Vec::new();
    for worker in workers {
        all.extend(worker.await.unwrap());
    }
    assert_eq!(client.run("SELECT count(*) FROM jobs WHERE NOT done").await, "0\nSELECT 1");
    assert_eq!(all.len(), 60);
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), 60);
}
