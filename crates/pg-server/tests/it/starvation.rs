//! Long computations do not delay short statements of other clients.

use crate::client::Strs as _;
use crate::client::{Client, Server};
use crate::frames::query;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// More than the connection threads and the query threads.
const AT_ONCE: usize = 6;

fn joins(count: usize) -> String {
    let tables: Vec<String> = (0..count).map(|n| format!("(SELECT 1 AS k, {n} AS v{n}) AS t{n}")).collect();
    let rest: Vec<String> = tables.iter().skip(1).map(|table| format!("FULL JOIN {table} USING (k)")).collect();
    format!("SELECT k FROM {} {}", tables[0], rest.join(" "))
}

fn laterals(count: usize) -> String {
    let rest: Vec<String> = (1..count).map(|n| format!(", LATERAL (SELECT t{}.k + 1 AS k) AS t{n}", n - 1)).collect();
    format!("SELECT t{}.k FROM (SELECT 1 AS k) AS t0 {}", count - 1, rest.concat())
}

/// Statements that are slow to parse, to plan, to compute before the first row, or within one row.
fn long_statements() -> Vec<String> {
    let numbers = |count: usize| (0..count).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    vec![
        joins(22),
        laterals(24),
        "SELECT levenshtein(repeat('a', 300000), repeat('b', 300000))".into(),
        "SELECT 'b' ~ (repeat('a|', 1000000) || 'c')".into(),
        format!("SELECT 1 WHERE 5 IN ({})", numbers(20_000)),
        format!("SELECT {}1{}", "(".repeat(1 << 18), ")".repeat(1 << 18)),
        format!("SELECT repeat('a', 100000) LIKE '{}b'", "%a".repeat(300)),
        format!("SELECT repeat('a', 100000) LIKE ANY (ARRAY['{}b'])", "%a_".repeat(1_000)),
        format!("SELECT repeat('a', 1000) ~ '{}b'", "(a|b)|".repeat(2_000)),
        "SELECT count(*) FROM generate_series(1, 3000000) g WHERE translate(g::text, '0123456789', 'abcdefghij') = ''"
            .into(),
        "SELECT md5(string_agg(repeat(md5(g::text), 100), '')) FROM generate_series(1, 30000) g".into(),
        "SELECT array_length(array_agg(g ORDER BY md5(g::text)), 1) FROM generate_series(1, 300000) g".into(),
    ]
}

/// Runs short statements until `stop`. Returns the longest response time.
async fn count_answers(mut client: Client, stop: Arc<AtomicBool>, count: Arc<AtomicUsize>) -> Duration {
    let mut longest = Duration::ZERO;
    while !stop.load(Ordering::Relaxed) {
        let began = Instant::now();
        assert_eq!(client.run("SELECT 1").await.strs(), Ok("1"));
        count.fetch_add(1, Ordering::Relaxed);
        longest = longest.max(began.elapsed());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    longest
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn short_statements_are_answered_beside_long_ones() {
    let server = Server::start(100).await;
    let (stop, count) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let counting = tokio::spawn(count_answers(server.session().await, Arc::clone(&stop), Arc::clone(&count)));
    for statement in long_statements() {
        let mut clients = Vec::new();
        for _ in 0..AT_ONCE {
            let mut client = server.session().await;
            client.run("SET statement_timeout = '1s'").await.unwrap();
            client.send(&query(&statement)).await;
            clients.push(client);
        }
        for client in &mut clients {
            client.answer().await;
        }
    }
    stop.store(true, Ordering::Relaxed);
    let longest = counting.await.unwrap();
    // Far longer than a busy machine needs, far shorter than a statement that blocks a thread.
    assert!(longest < Duration::from_secs(15), "{longest:?} for one of {count:?} answers");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_computes_is_cancelled_and_stopped() {
    let mut server = Server::start(100).await;
    let endless = "SELECT repeat('a', 10000000) LIKE ANY (ARRAY['%' || repeat('_a', 3000) || 'b%'])";
    // More statements than threads.
    let statements = [endless].repeat(AT_ONCE);
    let mut clients = Vec::new();
    for statement in &statements {
        let mut client = server.session().await;
        let process = client.run("SELECT pg_backend_pid()").await.unwrap();
        client.send(&query(statement)).await;
        clients.push((client, process));
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    let mut other = server.session().await;
    for (client, process) in &mut clients {
        assert_eq!(other.run(&format!("SELECT pg_cancel_backend({process})")).await.strs(), Ok("t"));
        assert_eq!(crate::client::result(&client.answer().await).strs(), Err("57014"));
    }
    for ((client, _), statement) in clients.iter_mut().zip(&statements) {
        client.run("SET statement_timeout = '300ms'").await.unwrap();
        assert_eq!(client.run(statement).await.strs(), Err("57014"));
        client.run("SET statement_timeout = 0").await.unwrap();
        client.send(&query(statement)).await;
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(server.engine.health().await.is_ok());
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_chains_of_joins_are_planned() {
    let server = Server::start(10).await;
    let mut client = server.session().await;
    client.run("SET statement_timeout = '60s'").await.unwrap();
    assert_eq!(client.run(&joins(30)).await.strs(), Ok("1"));
    assert_eq!(client.run(&laterals(30)).await.strs(), Ok("30"));
}

#[tokio::test]
async fn silent_sockets_take_no_seats() {
    let server = Server::start(5).await;
    let mut silent = Vec::new();
    for _ in 0..300 {
        silent.push(server.opened().await);
    }
    let mut client = server.session().await;
    assert_eq!(client.run("SELECT 1").await.strs(), Ok("1"));
    // The oldest silent connection was closed.
    assert!(silent[0].message().await.is_none());
}

#[tokio::test]
async fn the_user_of_a_session_stays_the_same() {
    let server = Server::start(5).await;
    let mut client = server.session().await;
    assert_eq!(client.run("SET session_authorization = 'nobody'").await.strs(), Err("22023"));
    assert_eq!(client.run("SET session_authorization = 'ada'").await.strs(), Ok("SET"));
    assert_eq!(client.run("RESET session_authorization").await.strs(), Ok("RESET"));
    assert_eq!(client.run("SHOW session_authorization").await.strs(), Ok("ada"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn batches_that_are_computed_for_long_hear_the_end_of_their_time() {
    let server = Server::start(5).await;
    let mut client = server.session().await;
    client.run("SET statement_timeout = '300ms'").await.unwrap();
    // Fewer batches than the coop budget of a task.
    let slow = "SELECT max(md5(repeat(n::text, 300))) FROM generate_series(1, 1000000) AS g(n)";
    assert_eq!(client.run(slow).await.strs(), Err("57014"));
    let lateral = |n: usize| format!(", LATERAL (SELECT k FROM t WHERE t.k = t{}.k LIMIT 1) AS t{n}", n - 1);
    let chain: String = (1..12).map(lateral).collect();
    client.run("CREATE TABLE t (k integer PRIMARY KEY)").await.unwrap();
    assert_eq!(client.run(&format!("EXPLAIN SELECT 1 FROM t AS t0{chain}")).await.strs(), Err("57014"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chains_of_lateral_filters_are_planned_as_joins() {
    let server = Server::start(5).await;
    let mut client = server.session().await;
    client.run("CREATE TABLE t (k integer PRIMARY KEY, v integer); INSERT INTO t SELECT i, i + 1 FROM generate_series(1, 50) AS g(i)").await.unwrap();
    let lateral = |n: usize| format!(", LATERAL (SELECT t.k, t.v FROM t WHERE t.k = t{}.v) AS t{n}", n - 1);
    let chain: String = (1..30).map(lateral).collect();
    client.run("SET statement_timeout = '60s'").await.unwrap();
    assert_eq!(client.run(&format!("SELECT count(*) FROM t AS t0{chain}")).await.strs(), Ok("21"));
}
