//! A client that disconnects without Terminate frees its locks, its session and its statement.

use crate::client::Server;
use crate::client::Strs as _;
use crate::frames::{frame, query};
use std::time::{Duration, Instant};

/// A statement that runs far longer than any test.
const ENDLESS: &str = "SELECT count(*) FROM t a, t b, t c, t d, t e, t f";

async fn server() -> Server {
    let server = Server::start(10).await;
    let table = "CREATE TABLE t (k integer PRIMARY KEY, v text)";
    let mut client = server.session().await;
    client.run(table).await.unwrap();
    client.run("INSERT INTO t SELECT g, 'x' FROM generate_series(1, 300) AS g").await.unwrap();
    server
}

#[tokio::test]
async fn in_a_transaction_its_locks_go() {
    let server = server().await;
    let mut lost = server.session().await;
    lost.run("BEGIN").await.unwrap();
    assert_eq!(lost.run("UPDATE t SET v = 'lost' WHERE k = 1").await.strs(), Ok("UPDATE 1"));
    let mut other = server.session().await;
    other.run("SET lock_timeout = '100ms'").await.unwrap();
    assert_eq!(other.run("UPDATE t SET v = 'kept' WHERE k = 1").await.strs(), Err("55P03"));
    drop(lost);
    server.sessions_are(1).await;
    assert_eq!(other.run("UPDATE t SET v = 'kept' WHERE k = 1").await.strs(), Ok("UPDATE 1"));
    assert_eq!(other.run("SELECT v FROM t WHERE k = 1").await.strs(), Ok("kept"));
}

#[tokio::test]
async fn while_it_waits_for_a_lock_the_wait_ends() {
    let server = server().await;
    let mut holder = server.session().await;
    holder.run("BEGIN").await.unwrap();
    holder.run("DELETE FROM t WHERE k = 1").await.unwrap();
    let mut lost = server.session().await;
    lost.send(&query("DELETE FROM t WHERE k = 1")).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    drop(lost);
    server.sessions_are(1).await;
    assert_eq!(holder.run("COMMIT").await.strs(), Ok("COMMIT"));
}

#[tokio::test]
async fn in_a_long_query_the_query_stops() {
    let server = server().await;
    let begun = Instant::now();
    for frames in [vec![query(ENDLESS)], crate::frames::extended(ENDLESS)] {
        let mut lost = server.session().await;
        lost.send(&frames.concat()).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        drop(lost);
        server.sessions_are(0).await;
    }
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert_eq!(server.session().await.run("SELECT count(*) FROM t").await.strs(), Ok("300"));
}

#[tokio::test]
async fn in_the_middle_of_rows_the_query_stops() {
    let server = server().await;
    let mut lost = server.session().await;
    lost.send(&query("SELECT a.k, b.v FROM t a, t b, t c")).await;
    for _ in 0..1_000 {
        lost.message().await.unwrap();
    }
    drop(lost);
    server.sessions_are(0).await;
}

#[tokio::test]
async fn in_the_middle_of_a_copy_nothing_was_copied() {
    let server = server().await;
    for end in [true, false] {
        let mut lost = server.session().await;
        lost.send(&query("COPY t FROM STDIN")).await;
        assert_eq!(lost.message().await.unwrap().kind, b'G');
        let lines: String = (1_000..3_000).map(|n| format!("{n}\tcopied\n")).collect();
        lost.send(&frame(b'd', &[lines.as_bytes()])).await;
        if end {
            lost.send(&frame(b'X', &[])).await;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
        drop(lost);
        server.sessions_are(0).await;
    }
    let mut other = server.session().await;
    assert_eq!(other.run("SELECT count(*) FROM t").await.strs(), Ok("300"));
    assert_eq!(other.run("INSERT INTO t VALUES (1000, 'free')").await.strs(), Ok("INSERT 0 1"));
}

#[tokio::test]
async fn in_the_middle_of_a_copy_out_it_ends() {
    let server = server().await;
    let mut lost = server.session().await;
    lost.send(&query("COPY (SELECT a.k, b.v FROM t a, t b, t c) TO STDOUT")).await;
    for _ in 0..100 {
        lost.message().await.unwrap();
    }
    drop(lost);
    server.sessions_are(0).await;
}
