//! Stopping the server stops all statements, and each client receives the reason.

use crate::client::{Client, Server, Strs as _, field};
use crate::frames::{bind, execute, frame, parse, query};

/// Statements that run far longer than any test.
const ENDLESS: [&str; 3] = [
    "SELECT count(*) FROM t a, t b, t c, t d, t e, t f",
    "SELECT pg_sleep(100000)",
    "INSERT INTO t SELECT a.k FROM t a, t b, t c, t d, t e, t f WHERE a.k + b.k + c.k + d.k + e.k + f.k < 0",
];

async fn server() -> Server {
    let server = Server::start(20).await;
    let mut client = server.session().await;
    client.run("CREATE TABLE t (k integer PRIMARY KEY)").await.unwrap();
    client.run("INSERT INTO t SELECT g FROM generate_series(1, 300) AS g").await.unwrap();
    server
}

/// Waits until `wanted` other sessions run a statement.
async fn active(seen_by: &mut Client, wanted: usize) {
    let text = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid()";
    for _ in 0..1_000 {
        if seen_by.run(text).await == Ok(wanted.to_string()) {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("{wanted} statements do not run, but {:?}", seen_by.run(text).await);
}

/// Expects FATAL 57P01 as the only error, then the end of the connection.
async fn expect_shutdown_error(client: &mut Client, of: &str) {
    let messages = client.answer().await;
    let errors: Vec<_> = messages.iter().filter(|message| message.kind == b'E').collect();
    assert_eq!(errors.len(), 1, "{of}: {messages:?}");
    assert_eq!((field(errors[0], b'S').as_str(), field(errors[0], b'C').as_str()), ("FATAL", "57P01"), "{of}");
    assert_eq!(field(errors[0], b'M'), "terminating connection due to administrator command");
    assert_eq!(messages.last().map(|message| message.kind), Some(b'E'), "{of}: {messages:?}");
}

#[tokio::test]
async fn it_stops_statements_of_both_protocols_and_tells_their_clients() {
    let mut server = server().await;
    let mut watcher = server.session().await;
    let mut clients = Vec::new();
    for statement in ENDLESS {
        let mut simple = server.session().await;
        simple.send(&query(statement)).await;
        let mut extended = server.session().await;
        let frames = [parse("", statement, &[]), bind("", "", 0, &[]), execute("", 0), frame(b'S', &[])];
        extended.send(&frames.concat()).await;
        clients.push((statement, simple));
        clients.push((statement, extended));
    }
    active(&mut watcher, clients.len()).await;
    server.stop().await;
    for (statement, client) in &mut clients {
        expect_shutdown_error(client, statement).await;
    }
    expect_shutdown_error(&mut watcher, "idle").await;
}

#[tokio::test]
async fn it_does_not_wait_for_clients_that_say_or_read_nothing() {
    let mut server = server().await;
    let mut copying = server.session().await;
    copying.run("CREATE TABLE copied (k integer PRIMARY KEY)").await.unwrap();
    copying.send(&query("COPY copied FROM STDIN")).await;
    assert_eq!(copying.message().await.unwrap().kind, b'G');
    copying.send(&frame(b'd', &[b"5000\n"])).await;
    let mut deaf = server.session().await;
    deaf.send(&query("SELECT a.k, b.k FROM t a, t b, t c")).await;
    assert_eq!(deaf.message().await.unwrap().kind, b'T');
    let mut blocked = server.session().await;
    let mut holder = server.session().await;
    holder.run("BEGIN").await.unwrap();
    holder.run("DELETE FROM t WHERE k = 1").await.unwrap();
    blocked.send(&query("DELETE FROM t WHERE k = 1")).await;
    server.stop().await;
    expect_shutdown_error(&mut copying, "COPY").await;
    expect_shutdown_error(&mut holder, "in a block").await;
    // The waiting statement may get the lock of a session that ended before it.
    if blocked.answer().await.last().map(|message| message.kind) == Some(b'Z') {
        expect_shutdown_error(&mut blocked, "waiting for a lock").await;
    }
    // The unread rows were dropped, or the client reads the error after some of them; the connection is closed.
    deaf.answer().await;
    assert!(deaf.message().await.is_none());
}

#[tokio::test]
async fn what_it_stopped_is_rolled_back_and_the_database_goes_on() {
    let mut server = server().await;
    let mut writer = server.session().await;
    writer.run("BEGIN").await.unwrap();
    writer.run("DELETE FROM t WHERE k <= 100").await.unwrap();
    writer.send(&query("SELECT pg_sleep(100000)")).await;
    let mut watcher = server.session().await;
    active(&mut watcher, 1).await;
    server.stop().await;
    server.serve_again();
    let mut after = server.session().await;
    assert_eq!(after.run("SELECT count(*) FROM t").await.strs(), Ok("300"));
    assert_eq!(after.run("DELETE FROM t WHERE k = 1").await.strs(), Ok("DELETE 1"));
}
