//! Rows of a COPY that are not sorted yet count as memory that statements share.

use crate::client::Client;
use engine::{Answer, Engine, EngineOptions};
use std::fmt::Write;
use std::sync::Arc;
use store_fjall::FjallStore;

const MEMORY: usize = 8 << 20;
const ROWS: u32 = 20_000;
const COPY: &str = "COPY t FROM STDIN";

async fn world() -> (Arc<Engine>, Client) {
    let options =
        store_fjall::Options { temporary: true, small_load_bytes: 64 << 10, ..store_fjall::Options::default() };
    let store = FjallStore::open(tempfile::tempdir().unwrap().keep(), options).unwrap();
    let options = EngineOptions { query_threads: 2, memory_bytes: MEMORY, ..EngineOptions::default() };
    let engine = Engine::open(store, options).await.unwrap();
    let mut client = Client::of(&engine);
    client.ok("CREATE TABLE t (k integer PRIMARY KEY, v varchar)").await;
    (engine, client)
}

/// Lines that are not in key order, about 4 MB.
fn lines() -> String {
    (0..ROWS).fold(String::new(), |mut text, n| {
        writeln!(text, "{}\t{:0200}", u64::from(n) * 7919 % u64::from(ROWS), n).unwrap();
        text
    })
}

fn held(engine: &Engine) -> u64 {
    engine.metrics().into_iter().find(|(name, _)| *name == "query_memory_writes_bytes").unwrap().1
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_that_are_being_loaded_hold_memory_until_the_load_ends() {
    let (engine, mut client) = world().await;
    let statements = client.session.parse(COPY).unwrap();
    let Answer::CopyIn(mut copy) = client.session.run(&statements[0]).await.unwrap() else { panic!("no COPY") };
    let mut most = 0;
    for piece in lines().as_bytes().chunks(10_000) {
        copy.feed(piece).await.unwrap();
        most = held(&engine).max(most);
    }
    assert_eq!(copy.finish(&mut client.session).await.unwrap(), format!("COPY {ROWS}"));
    assert!(most > 1 << 20, "{most} bytes at the most");
    assert_eq!(held(&engine), 0);
    assert_eq!(client.run("SELECT count(*), sum(k) FROM t").await, "20000|199990000\nSELECT 1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_load_fails_where_others_have_the_memory_and_leaves_nothing() {
    let (engine, mut client) = world().await;
    let others = Client::of(&engine).session.hold("a test");
    others.grow(100 << 20);
    let refused = crate::copy::copy(&mut client, COPY, &lines(), 10_000).await.unwrap_err();
    assert_eq!(refused.code(), "53200", "{refused}");
    client.session.fail();
    drop(others);
    assert_eq!(client.run("SELECT count(*) FROM t").await, "0\nSELECT 1");
    let done = crate::copy::copy(&mut client, COPY, &lines(), 10_000).await.unwrap();
    assert_eq!(done, format!("COPY {ROWS}"));
}
