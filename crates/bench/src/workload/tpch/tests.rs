//! Runs all queries on a small database and compares them with PostgreSQL's results.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use super::{QUERIES, TABLES, data};
use bennu::{Bennu, Options, ServerOptions};
use futures::SinkExt;
use std::net::TcpListener;
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};
use tokio_util::sync::CancellationToken;

const SCALE: f64 = 0.01;

/// Formats numbers with six decimals, since the last digits of sums may differ from PostgreSQL's.
fn normalized(line: &str) -> String {
    let cell = |cell: &str| cell.parse::<f64>().map_or_else(|_| cell.to_owned(), |number| format!("{number:.6}"));
    line.split('|').map(cell).collect::<Vec<_>>().join("|")
}

async fn load(client: &Client) {
    client.batch_execute(TABLES).await.unwrap();
    for table in data::TABLES {
        let mut chunks = Vec::new();
        data::lines(table, SCALE, |chunk| chunks.push(std::io::Cursor::new(chunk.into_bytes())));
        let copy = format!("COPY {table} FROM STDIN (FORMAT csv, DELIMITER '|')");
        let mut sink = std::pin::pin!(client.copy_in(&copy).await.unwrap());
        for chunk in chunks {
            sink.send(chunk).await.unwrap();
        }
        sink.finish().await.unwrap();
    }
}

async fn answer(client: &Client, query: &str) -> Vec<String> {
    let messages = client.simple_query(query).await.unwrap_or_else(|error| panic!("{query}: {error:?}"));
    let rows = messages.iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    rows.map(|row| (0..row.len()).map(|at| row.get(at).unwrap_or("")).collect::<Vec<_>>().join("|"))
        .map(|line| normalized(&line))
        .collect()
}

#[test]
fn answers_are_those_of_postgresql() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_stack_size(32 << 20)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let db = Bennu::open_in_memory(&Options::default()).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (served, stop) = (db.clone(), CancellationToken::new());
        let token = stop.clone();
        tokio::spawn(async move { served.serve(listener, ServerOptions::default(), token).await });
        let config = format!("host=127.0.0.1 port={port} user=test dbname=bennu");
        let (client, connection) = tokio_postgres::connect(&config, NoTls).await.unwrap();
        tokio::spawn(connection);
        load(&client).await;
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/workload/tpch/answers");
        for (number, query) in QUERIES.iter().enumerate().map(|(at, query)| (at + 1, query)) {
            let expected = std::fs::read_to_string(format!("{folder}/q{number:02}.txt")).unwrap();
            let expected: Vec<String> = expected.lines().map(normalized).collect();
            assert_eq!(answer(&client, query).await, expected, "Q{number}");
        }
        stop.cancel();
    });
}
