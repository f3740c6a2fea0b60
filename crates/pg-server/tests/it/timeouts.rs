//! Timeouts: of plans without I/O, of a COPY without data, and of silent clients.

use crate::client::Strs as _;
use crate::client::{Server, field, result};
use crate::frames::{frame, query};
use std::time::{Duration, Instant};

#[tokio::test]
async fn plans_that_read_no_table_are_stopped() {
    let server = Server::start(10).await;
    let mut client = server.session().await;
    client.run("SET statement_timeout = 300").await.unwrap();
    for text in [
        "SELECT sum(g) FROM generate_series(1, 20000000000) AS g",
        "SELECT count(*) FROM generate_series(1, 1000000) AS a, generate_series(1, 1000000) AS b",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r",
    ] {
        let began = Instant::now();
        assert_eq!(client.run(text).await.strs(), Err("57014"), "{text}");
        assert!(began.elapsed() < Duration::from_secs(20), "{text}: {:?}", began.elapsed());
    }
    assert_eq!(client.run("SELECT 'goes on'").await.strs(), Ok("goes on"));
}

#[tokio::test]
async fn searches_of_long_texts_are_stopped() {
    let server = Server::start(10).await;
    let mut client = server.session().await;
    client.run("SET statement_timeout = 300").await.unwrap();
    // Hundreds of NFA states are active at each character, and the DFA would be too large.
    let pattern = "'a[ab]{400}[cd]'";
    for text in [
        "repeat('ab', 20000000)",
        "t FROM (SELECT repeat('aab', 9000000 + g) AS t FROM generate_series(1, 2) AS s (g)) AS x",
    ] {
        let (text, from) =
            text.split_once(" FROM ").map_or((text, String::new()), |(text, from)| (text, format!(" FROM {from}")));
        for call in [
            format!("{text} ~ {pattern}"),
            format!("{text} !~* {pattern}"),
            format!("regexp_like({text}, {pattern})"),
            format!("regexp_count({text}, {pattern})"),
            format!("length(regexp_replace({text}, {pattern}, '', 'g'))"),
            format!("substring({text} from {pattern})"),
            format!("cardinality(regexp_split_to_array({text}, {pattern}))"),
        ] {
            let began = Instant::now();
            assert_eq!(client.run(&format!("SELECT {call}{from}")).await.strs(), Err("57014"), "{call}{from}");
            assert!(began.elapsed() < Duration::from_secs(20), "{call}{from}: {:?}", began.elapsed());
        }
    }
    assert_eq!(client.run("SELECT 'goes on' ~ 'on$'").await.strs(), Ok("t"));
}

#[tokio::test]
async fn comparisons_of_long_arrays_are_stopped() {
    let server = Server::start(10).await;
    let mut client = server.session().await;
    client.run("SET statement_timeout = 2000").await.unwrap();
    for operator in ["&&", "@>", "<@"] {
        let text = format!(
            "SELECT array_agg(g) {operator} array_agg(g + 150000 ORDER BY g DESC) FROM generate_series(1, 300000) AS s (g)"
        );
        let began = Instant::now();
        let answer = client.run(&text).await;
        let is_stopped = answer.strs() == Err("57014") || answer.strs() == Ok("f") || answer.strs() == Ok("t");
        assert!(is_stopped && began.elapsed() < Duration::from_secs(20), "{text}: {answer:?}, {:?}", began.elapsed());
    }
    assert_eq!(client.run("SELECT ARRAY[1, 2] && ARRAY[2]").await.strs(), Ok("t"));
}

#[tokio::test]
async fn a_copy_without_data_is_stopped() {
    let server = Server::start(10).await;
    let mut client = server.session().await;
    client.run("CREATE TABLE u (a integer, b text)").await.unwrap();
    client.run("SET statement_timeout = 200").await.unwrap();
    client.send(&query("COPY u FROM STDIN")).await;
    client.send(&frame(b'd', &[b"1\tx\n"])).await;
    let answer = client.answer().await;
    assert_eq!(result(&answer).strs(), Err("57014"));
    assert_eq!(field(&answer[1], b'W'), "COPY u, line 2");
    // CopyData that the client sent before it read the error is ignored.
    client.send(&[frame(b'd', &[b"2\ty\n"]), frame(b'c', &[])].concat()).await;
    assert_eq!(client.run("SELECT count(*) FROM u").await.strs(), Ok("0"));
}

#[tokio::test]
async fn a_copy_without_data_is_cancelled() {
    let server = Server::start(10).await;
    let (mut client, mut other) = (server.session().await, server.session().await);
    let process = client.run("SELECT pg_backend_pid()").await.unwrap();
    client.run("CREATE TABLE u (a integer, b text)").await.unwrap();
    client.send(&query("COPY u FROM STDIN")).await;
    assert_eq!(client.message().await.unwrap().kind, b'G');
    assert_eq!(other.run(&format!("SELECT pg_cancel_backend({process})")).await.strs(), Ok("t"));
    let answer = client.answer().await;
    assert_eq!((answer.len(), result(&answer).strs()), (2, Err("57014")));
    assert_eq!(client.run("SELECT count(*) FROM u").await.strs(), Ok("0"));
}

#[tokio::test]
async fn a_silent_client_loses_its_session_when_it_asked_for_that() {
    let server = Server::start(10).await;
    for (setting, begin, code) in
        [("idle_in_transaction_session_timeout", "BEGIN", "25P03"), ("idle_session_timeout", "SELECT 1", "57P05")]
    {
        let mut client = server.session().await;
        client.run(&format!("SET {setting} = '1s'")).await.unwrap();
        // Neither during a statement nor by the other setting.
        client.run("SELECT pg_sleep(1.5)").await.unwrap();
        client.run(begin).await.unwrap();
        let ended = client.message().await.unwrap();
        assert_eq!((field(&ended, b'S').as_str(), field(&ended, b'C').as_str()), ("FATAL", code));
        assert!(client.message().await.is_none());
    }
    let mut client = server.session().await;
    client.run("SET idle_in_transaction_session_timeout = '200ms'").await.unwrap();
    tokio::time::sleep(Duration::from_millis(600)).await;
    assert_eq!(client.run("SELECT 'goes on'").await.strs(), Ok("goes on"));
}
