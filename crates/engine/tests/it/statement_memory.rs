//! Syntax trees of long statements, results of RETURNING, and checks of foreign keys count as memory that statements share.

use crate::client::Client;
use engine::{Engine, EngineOptions};
use std::time::Duration;
use store_fjall::FjallStore;

const MEMORY: usize = 8 << 20;

async fn client() -> Client {
    client_with(MEMORY).await
}

async fn client_with(memory_bytes: usize) -> Client {
    let options = store_fjall::Options { temporary: true, ..store_fjall::Options::default() };
    let store = FjallStore::open(tempfile::tempdir().unwrap().keep(), options).unwrap();
    let options = EngineOptions { query_threads: 2, memory_bytes, ..EngineOptions::default() };
    Client::of(&Engine::open(store, options).await.unwrap())
}

fn list(items: usize) -> String {
    format!("SELECT 1 WHERE 5 IN ({})", (0..items).map(|n| n.to_string()).collect::<Vec<_>>().join(","))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_text_whose_trees_are_larger_than_the_memory_of_statements_is_refused_before_it_is_read() {
    let mut client = client().await;
    for text in [list(100_000), "SELECT 1;".repeat(20_000), format!("SELECT {}true", "NOT ".repeat(100_000))] {
        let refused = client.session.parse(&text).unwrap_err();
        assert_eq!(refused.code(), "53200", "{refused}");
    }
    assert_eq!(client.run(&list(3_000)).await, "1\nSELECT 1");
    let (long, quoted) = ("x".repeat(1 << 20), "SELECT length('");
    assert_eq!(client.run(&format!("{quoted}{long}')")).await, "1048576\nSELECT 1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_trees_of_a_text_hold_is_given_back_with_its_last_statement() {
    let mut client = client().await;
    // More than half of the memory.
    let text = list(3_500);
    let first = client.session.parse(&text).unwrap();
    let second = client.session.parse(&text).unwrap_err();
    assert_eq!(second.code(), "53200", "{second}");
    drop(first);
    assert_eq!(client.run(&text).await, "1\nSELECT 1");
    // A large tree is freed on another thread.
    for _ in 0..500 {
        if client.session.parse(&text).is_ok() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the memory of a statement that has ended is held");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_answer_of_returning_is_refused_and_its_statement_undone() {
    let mut client = client().await;
    client.ok("CREATE TABLE t (k integer PRIMARY KEY, v text)").await;
    client.ok("INSERT INTO t SELECT i, 'v' FROM generate_series(1, 500) AS g (i)").await;
    for statement in [
        "UPDATE t SET v = 'w' RETURNING repeat(v, 100000)",
        "DELETE FROM t RETURNING repeat(v, 100000)",
        "INSERT INTO t SELECT k + 1000, v FROM t RETURNING repeat(v, 100000)",
    ] {
        let answer = client.run(statement).await;
        assert!(answer.starts_with("ERROR 53200"), "{}", answer.get(..100).unwrap_or(&answer));
        assert_eq!(client.run("SELECT count(*), max(v) FROM t").await, "500|v\nSELECT 1");
    }
    let answer = client.run("UPDATE t SET v = 'w' RETURNING length(repeat(v, 100000))").await;
    assert!(answer.ends_with("UPDATE 500"), "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_checks_of_foreign_keys_hold_memory() {
    let mut client = client_with(24 << 20).await;
    client.ok("CREATE TABLE p (k text PRIMARY KEY)").await;
    client.ok("CREATE TABLE c (k integer PRIMARY KEY, p text REFERENCES p DEFERRABLE)").await;
    client.ok("INSERT INTO p SELECT repeat('x', 1000) || i FROM generate_series(1, 15000) AS g (i)").await;
    let insert = |from: usize, count: usize, key: &str| {
        format!("INSERT INTO c SELECT {from} + i, repeat('x', 1000) || {key} FROM generate_series(1, {count}) AS g (i)")
    };
    // Two keys in all; then another key for each row, about 30 MB.
    client.ok(&insert(0, 15_000, "1 + i % 2")).await;
    let answer = client.run(&insert(20_000, 15_000, "i")).await;
    assert!(answer.starts_with("ERROR 53200 out of memory: the rows of a statement"), "{answer}");
    assert_eq!(client.run("SELECT count(*) FROM c").await, "15000\nSELECT 1");

    // Deferred checks are held by their transaction, and given back by ROLLBACK TO.
    client.ok("BEGIN").await;
    client.ok("SET CONSTRAINTS ALL DEFERRED").await;
    for _ in 0..10 {
        client.ok("SAVEPOINT s").await;
        client.ok(&insert(20_000, 3_000, "i")).await;
        client.ok("ROLLBACK TO s").await;
    }
    let mut answers = Vec::new();
    for at in 1..10 {
        answers.push(client.run(&insert(20_000 * at, 3_000, "i")).await);
    }
    assert!(answers.iter().any(|answer| answer.starts_with("ERROR 53200")), "{answers:?}");
    client.ok("ROLLBACK").await;
    client.ok(&insert(20_000, 3_000, "i")).await;
}
