//! TPC-H lineitem: loaded by COPY into a table with its key, then scanned whole.

use super::Arena;
use crate::Settings;
use crate::error::BenchError;
use crate::peer::{Peer, connect, run as execute};
use crate::report::{Better, Line, Report};
use futures::SinkExt;
use std::fmt::Write as _;
use std::time::Instant;
use tokio_postgres::Client;

const TABLE: &str = "CREATE TABLE lineitem (
    l_orderkey bigint NOT NULL, l_partkey integer NOT NULL, l_suppkey integer NOT NULL, l_linenumber integer NOT NULL,
    l_quantity numeric(15,2) NOT NULL, l_extendedprice numeric(15,2) NOT NULL, l_discount numeric(15,2) NOT NULL,
    l_tax numeric(15,2) NOT NULL, l_returnflag char(1) NOT NULL, l_linestatus char(1) NOT NULL,
    l_shipdate date NOT NULL, l_commitdate date NOT NULL, l_receiptdate date NOT NULL,
    l_shipinstruct char(25) NOT NULL, l_shipmode char(10) NOT NULL, l_comment varchar(44) NOT NULL,
    PRIMARY KEY (l_orderkey, l_linenumber))";

/// Name, query, target.
const QUERIES: [(&str, &str, f64); 3] = [
    ("full scan: count(*)", "SELECT count(*) FROM lineitem", 10.0),
    (
        "full scan: Q6",
        "SELECT sum(l_extendedprice * l_discount) AS revenue FROM lineitem
         WHERE l_shipdate >= date '1994-01-01' AND l_shipdate < date '1995-01-01'
         AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24",
        3.0,
    ),
    (
        "full scan: Q1",
        "SELECT l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice),
         sum(l_extendedprice * (1 - l_discount)), sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)),
         avg(l_quantity), avg(l_extendedprice), avg(l_discount), count(*)
         FROM lineitem WHERE l_shipdate <= date '1998-09-02'
         GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus",
        5.0,
    ),
];

async fn run_scans(arena: &Arena, report: &mut Report, settings: &Settings) -> Result<(), BenchError> {
    for (name, query, target) in QUERIES {
        if !settings.wants(name) {
            continue;
        }
        let (ours, theirs) = (connect(&arena.bennu).await?, connect(&arena.postgres).await?);
        // Warm, and the answers must agree.
        let answers = (answer(&arena.bennu, &ours, query).await?.1, answer(&arena.postgres, &theirs, query).await?.1);
        if answers.0 != answers.1 {
            return Err(BenchError::Wrong(format!("{name}: Bennu says {:?}, PostgreSQL {:?}", answers.0, answers.1)));
        }
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for _ in 0..settings.rounds {
            a.push(answer(&arena.bennu, &ours, query).await?.0);
            b.push(answer(&arena.postgres, &theirs, query).await?.0);
        }
        report.add(&Line { name: name.into(), unit: "s", better: Better::Less, ours: a, theirs: b, target });
    }
    Ok(())
}

/// Seconds, and the rows with numbers cut to their value (PostgreSQL shows more zeros of an average).
async fn answer(peer: &dyn Peer, client: &Client, query: &str) -> Result<(f64, Vec<Vec<String>>), BenchError> {
    let begin = Instant::now();
    let messages = client.simple_query(query).await;
    let seconds = begin.elapsed().as_secs_f64();
    let messages = messages.map_err(|error| BenchError::Sql { server: peer.name(), error })?;
    let rows = messages.iter().filter_map(|m| match m {
        tokio_postgres::SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    let text = |value: Option<&str>| match value.and_then(|v| v.parse::<f64>().ok()) {
        Some(number) => format!("{number:.4}"),
        None => value.unwrap_or("NULL").to_string(),
    };
    Ok((seconds, rows.map(|r| (0..r.len()).map(|i| text(r.get(i))).collect()).collect()))
}

pub(super) async fn run(arena: &Arena, report: &mut Report, settings: &Settings) -> Result<(), BenchError> {
    let scans = QUERIES.iter().any(|(name, ..)| settings.wants(name));
    let copy = settings.wants("COPY lineitem");
    if !scans && !copy && !settings.wants("memory") {
        return Ok(());
    }
    // COPY takes long: fewer rounds, each into a new table.
    let rounds = if copy { settings.rounds.min(3) } else { 1 };
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        for (peer, times) in [(&arena.bennu as &dyn Peer, &mut ours), (&arena.postgres, &mut theirs)] {
            let client = connect(peer).await?;
            run_drop(peer, &client).await?;
            times.push(load(peer, &client, settings.scale).await?);
        }
    }
    if copy {
        let line = Line { name: "COPY lineitem".into(), unit: "s", better: Better::Less, ours, theirs, target: 3.0 };
        report.add(&line);
    }
    let client = connect(&arena.postgres).await?;
    execute(&arena.postgres, &client, "VACUUM ANALYZE lineitem").await?;
    run_scans(arena, report, settings).await
}

async fn run_drop(peer: &dyn Peer, client: &Client) -> Result<(), BenchError> {
    execute(peer, client, "DROP TABLE IF EXISTS lineitem").await?;
    execute(peer, client, TABLE).await
}

/// Seconds from COPY to its end. The lines are made beforehand, chunk by chunk, and not counted.
async fn load(peer: &dyn Peer, client: &Client, scale: f64) -> Result<f64, BenchError> {
    let failed = |error| BenchError::Sql { server: peer.name(), error };
    let chunks = lines(scale);
    let begin = Instant::now();
    let sink = client.copy_in("COPY lineitem FROM STDIN (FORMAT csv, DELIMITER '|')").await.map_err(failed)?;
    let mut sink = std::pin::pin!(sink);
    for chunk in chunks {
        sink.send(chunk).await.map_err(failed)?;
    }
    sink.finish().await.map_err(failed)?;
    Ok(begin.elapsed().as_secs_f64())
}

/// lineitem in chunks of about 1 MiB.
fn lines(scale: f64) -> Vec<std::io::Cursor<Vec<u8>>> {
    let mut chunks = Vec::new();
    let mut text = String::new();
    for line in tpchgen::generators::LineItemGenerator::new(scale, 1, 1).iter() {
        // dbgen ends each line with the delimiter, which CSV would take for one more column.
        let start = text.len();
        let _ = write!(text, "{line}");
        if text.get(start..).is_some_and(|l| l.ends_with('|')) {
            text.pop();
        }
        text.push('\n');
        if text.len() > 1 << 20 {
            chunks.push(std::io::Cursor::new(std::mem::take(&mut text).into_bytes()));
        }
    }
    chunks.push(std::io::Cursor::new(text.into_bytes()));
    chunks
}
