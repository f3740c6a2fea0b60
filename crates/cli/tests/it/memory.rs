//! A server with a small memory limit stays within it under any statement: statements that need more fail with 53200
//! or spill.
#![cfg(target_os = "linux")]

use crate::server::Server;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_postgres::Client;

/// Megabytes for queries: 64, or `BENNU_MEMORY_MIB`, with which the statements scale.
fn query_memory() -> u64 {
    std::env::var("BENNU_MEMORY_MIB").map_or(64, |words| words.parse().expect("a number of megabytes"))
}

/// Scales a count with the query memory.
pub(crate) fn times(count: u64) -> u64 {
    count * query_memory() / 64
}

pub(crate) struct Small {
    server: Server,
    /// Resident bytes at the start.
    before: u64,
    _folder: tempfile::TempDir,
}

impl Small {
    pub(crate) async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (queries, others) = (query_memory(), query_memory() / 4);
        let config = format!(
            "query_memory_mib = {queries}\nmemtable_mib = {others}\ncache_mib = {others}\nmax_connections = 200\n"
        );
        let server = Server::start_with_config(&folder.path().join("data"), &config);
        let client = server.connect().await;
        client.batch_execute("SELECT count(*) FROM pg_class").await.unwrap();
        let before = peak(server.id());
        Self { server, before, _folder: folder }
    }

    /// Asserts that the peak beyond the start is within 1.5 times the total configured for query memory, memtables and
    /// cache.
    pub(crate) fn stayed_within(&self, what: &str) {
        let grown = peak(self.server.id()).saturating_sub(self.before);
        let most = (query_memory() * 3 / 2 * 3 / 2) << 20;
        assert!(grown < most, "{what}: {} MB more than at the start", grown >> 20);
    }

    pub(crate) async fn run(&self, statement: &str) -> Result<(), String> {
        run(&self.server.connect().await, statement).await
    }
}

async fn run(client: &Client, statement: &str) -> Result<(), String> {
    let done = client.simple_query(statement).await;
    done.map(drop).map_err(|error| error.code().map_or_else(|| error.to_string(), |code| code.code().to_owned()))
}

/// Peak resident size so far.
fn peak(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

#[tokio::test]
async fn functions_that_grow_their_arguments_fail_or_go_by_few_rows() {
    let small = Small::start().await;
    // One value larger than all memory, or than any value may be, built from columns so that it is not constant-folded.
    for (letters, code) in [(10_000, "53200"), (100_000, "54000")] {
        let one = format!(
            "SELECT length(replace(repeat('a', n), 'a', repeat('b', n))) FROM (SELECT {letters} + g AS n \
             FROM generate_series(1, 1) AS s (g)) AS t"
        );
        assert_eq!(small.run(&one).await, Err(code.to_owned()), "replace of {letters} letters");
    }
    // A function of DataFusion that is not a built-in of ours.
    assert_eq!(small.run("SELECT range(1, 10000000000)").await, Err("42883".to_owned()));
    small.stayed_within("values that are refused");
    // Each value is small, but a batch of them is not.
    for (what, statement) in [
        (
            "repeat",
            "SELECT sum(length(t)) FROM (SELECT repeat(md5(g::text), 500) AS t FROM generate_series(1, 20000) AS s (g)) AS x",
        ),
        (
            "a filter",
            "SELECT count(*) FROM generate_series(1, 20000) AS s (g) WHERE length(repeat('x', 20000 + g % 2)) > 20000",
        ),
        ("an aggregate", "SELECT max(length(repeat('x', 20000 + g % 2))) FROM generate_series(1, 20000) AS s (g)"),
        (
            "a constant",
            "SELECT count(DISTINCT g) FROM (SELECT g, repeat('x', 100000) AS t FROM generate_series(1, 8192) AS s (g)) AS x WHERE t <> g::text",
        ),
        (
            "unnest",
            "SELECT sum(e) FROM (SELECT unnest(array_fill(g, array[10000])) AS e FROM generate_series(1, 500) AS s (g)) AS x",
        ),
        ("a series", "SELECT count(x) FROM (SELECT generate_series(1, 3000) AS x FROM generate_series(1, 1000)) AS y"),
        (
            "split",
            "SELECT sum(cardinality(regexp_split_to_array(repeat('a,', 1000 + g % 2), ','))) FROM generate_series(1, 300) AS s (g)",
        ),
    ] {
        assert_eq!(small.run(statement).await, Ok(()), "{what}");
        small.stayed_within(what);
    }
}

/// Each statement would take minutes; its memory use shows in the first seconds.
#[tokio::test]
async fn statements_over_very_many_rows_hold_no_more_as_they_go() {
    let small = Small::start().await;
    let client = small.server.connect().await;
    client.batch_execute("SET statement_timeout = '8s'").await.unwrap();
    for (what, statement) in [
        (
            "unnest",
            "SELECT sum(e) FROM (SELECT unnest(array_fill(g, array[100000])) AS e FROM generate_series(1, 200000) AS s (g)) AS x",
        ),
        (
            "split",
            "SELECT sum(cardinality(regexp_split_to_array(repeat('a,', 100000 + g % 2), ','))) FROM generate_series(1, 200000) AS s (g)",
        ),
        (
            "nested series",
            "SELECT count(x) FROM (SELECT generate_series(1, 300000) AS x FROM generate_series(1, 8192)) AS y",
        ),
    ] {
        let done = run(&client, statement).await;
        assert!(done.as_ref().err().is_none_or(|code| ["57014", "53200"].contains(&code.as_str())), "{what}: {done:?}");
        small.stayed_within(what);
    }
}

#[tokio::test]
async fn answers_that_nobody_reads_pile_up_no_further_than_the_memory_that_is_configured() {
    let small = Small::start().await;
    let statement = "select repeat(md5(i::text),1000) from generate_series(1,10000000) g(i)";
    let mut silent = Vec::new();
    for _ in 0..100 {
        silent.push(asked(small.server.port, statement).await);
    }
    // Other clients are served meanwhile.
    for _ in 0..20 {
        assert_eq!(small.run("SELECT count(*) FROM generate_series(1, 1000)").await, Ok(()));
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    small.stayed_within("unread answers");
    drop(silent);
}

/// A session that sends a statement and does not read the response.
async fn asked(port: u16, statement: &str) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let body = b"\0\x03\0\0user\0test\0database\0bennu\0\0";
    let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
    stream.write_all(&[&length[..], &body[..]].concat()).await.unwrap();
    // ReadyForQuery ends the startup.
    let mut seen = Vec::new();
    while !seen.ends_with(b"Z\0\0\0\x05I") {
        let mut part = [0; 1024];
        let count = stream.read(&mut part).await.unwrap();
        assert!(count > 0, "the server hung up");
        seen.extend_from_slice(&part[..count]);
    }
    let length = u32::try_from(statement.len() + 5).unwrap().to_be_bytes();
    stream.write_all(&[b"Q", &length[..], statement.as_bytes(), b"\0"].concat()).await.unwrap();
    stream
}

#[tokio::test]
async fn writes_that_do_not_fit_go_to_files() {
    let small = Small::start().await;
    let client = small.server.connect().await;
    let rows = 250_000;
    client.batch_execute("CREATE TABLE t (k integer PRIMARY KEY, v text)").await.unwrap();
    let fill = format!("INSERT INTO t SELECT g, 'small' FROM generate_series(1, {rows}) AS s (g)");
    client.batch_execute(&fill).await.unwrap();
    assert_eq!(run(&client, "UPDATE t SET v = repeat('x', 200000) WHERE k <= 2000").await, Ok(()), "long values");
    assert_eq!(run(&client, "UPDATE t SET v = 'other'").await, Ok(()), "many rows");
    client.batch_execute("BEGIN").await.unwrap();
    for start in (0..100_000).step_by(5000) {
        let statement = format!("UPDATE t SET v = repeat('y', 1000) WHERE k > {start} AND k <= {}", start + 5000);
        assert_eq!(run(&client, &statement).await, Ok(()), "many statements of one transaction");
    }
    let count = "SELECT count(*) FROM t WHERE length(v) = 1000";
    assert_eq!(client.query_one(count, &[]).await.unwrap().get::<_, i64>(0), 100_000);
    client.batch_execute("SAVEPOINT s; DELETE FROM t; ROLLBACK TO s").await.unwrap();
    assert_eq!(client.query_one(count, &[]).await.unwrap().get::<_, i64>(0), 100_000);
    client.batch_execute("ROLLBACK").await.unwrap();
    small.stayed_within("large writes");
    // RETURNING needs all rows at once.
    assert_eq!(run(&client, "UPDATE t SET v = 'all' RETURNING k").await, Err("53200".to_owned()));
    // The memory is released.
    let (_, metrics) = small.server.get("/metrics");
    let held = metrics.lines().find(|line| line.starts_with("bennu_query_memory_bytes ")).unwrap();
    assert_eq!(held, "bennu_query_memory_bytes 0");
    assert!(metrics.contains(&format!("bennu_query_memory_limit_bytes {}", query_memory() << 20)));
    let kept = client.query_one("SELECT count(*) FROM t WHERE v = 'other'", &[]).await.unwrap();
    assert_eq!(kept.get::<_, i64>(0), rows);
}

#[tokio::test]
async fn sorts_of_long_rows_have_few_rows_in_a_batch() {
    let small = Small::start().await;
    let rows = "SELECT -g AS n, repeat(md5(g::text), 1000) AS t FROM generate_series(1, 4000) AS s (g)";
    let by_number = format!("SELECT n, t FROM ({rows}) AS x ORDER BY n OFFSET 3999");
    assert_eq!(small.run(&by_number).await, Ok(()));
    small.stayed_within("a sort by a short column");
    // The merge needs the long texts twice, which may be refused with so little memory.
    let by_text = format!("SELECT n, t FROM ({rows}) AS x ORDER BY t OFFSET 3999");
    let done = small.run(&by_text).await;
    assert!(done.as_ref().err().is_none_or(|code| code == "53200"), "{done:?}");
    small.stayed_within("a sort by a long column");
}

#[tokio::test]
async fn messages_that_do_not_end_are_held_as_far_as_there_is_memory() {
    let small = Small::start().await;
    let block = vec![b' '; 1 << 20];
    let mut refused = 0;
    let mut open = Vec::new();
    for _ in 0..8 {
        let mut stream = asked(small.server.port, "SELECT 1").await;
        stream.write_all(&[&b"Q"[..], &(500_i32 << 20).to_be_bytes()].concat()).await.unwrap();
        for _ in 0..24 {
            if stream.write_all(&block).await.is_err() {
                break;
            }
        }
        // A refused client receives the error at once; the server then reads its input until it is silent.
        let told = tokio::time::timeout(Duration::from_secs(1), stream.read(&mut [0; 4096])).await;
        refused += usize::from(told.is_ok());
        open.push(stream);
    }
    assert!(refused > 0, "all were taken");
    small.stayed_within("messages");
    drop(open);
    assert_eq!(small.run("SELECT 1").await, Ok(()));
}

#[tokio::test]
async fn open_cursors_over_sorted_rows_spill_or_are_refused() {
    let small = Small::start().await;
    let client = small.server.connect().await;
    client.batch_execute("BEGIN").await.unwrap();
    let mut refused = None;
    for cursor in 0..311 {
        let query = "SELECT md5(g::text) AS t FROM generate_series(1, 40000) AS s (g) ORDER BY t";
        let statement = format!("DECLARE c{cursor} CURSOR FOR {query}; FETCH 1 FROM c{cursor}");
        if let Err(code) = run(&client, &statement).await {
            refused = Some(code);
            break;
        }
    }
    assert!(refused.as_deref().is_none_or(|code| code == "53200"), "{refused:?}");
    small.stayed_within("open cursors");
}

#[tokio::test]
async fn prepared_statements_without_end_are_refused() {
    let small = Small::start().await;
    let client = small.server.connect().await;
    let long = "x".repeat(100_000);
    let mut refused = None;
    for number in 0..100 {
        if let Err(code) = run(&client, &format!("PREPARE p{number} AS SELECT '{long}' || {number}")).await {
            refused = Some(code);
            break;
        }
    }
    assert_eq!(refused.as_deref(), Some("53200"));
    small.stayed_within("prepared statements");
    let (_, metrics) = small.server.get("/metrics");
    let held = metrics.lines().find_map(|line| line.strip_prefix("bennu_query_memory_prepared_bytes ")).unwrap();
    assert!(held.parse::<u64>().unwrap() > (query_memory() << 20) / 4, "{held}");
    client.batch_execute("DEALLOCATE ALL; PREPARE p AS SELECT 1").await.unwrap();
}
