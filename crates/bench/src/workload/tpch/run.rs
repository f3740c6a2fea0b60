//! The 22 queries, compared with PostgreSQL with indexes on its primary and foreign keys, and with DataFusion over
//! Parquet.

use super::super::answer::{answer, must_agree};
use super::super::{Arena, copy::copy};
use super::{QUERIES, TABLES, data, planning, table};
use crate::Settings;
use crate::error::BenchError;
use crate::peer::{DataFusion, Peer, connect, run as execute};
use crate::report::{Better, Line, Report, figure, median};
use tokio_postgres::Client;

/// Name for `--only`.
pub(in super::super) const NAME: &str = "TPC-H";

const HEAD: &str = "| query | Bennu s | PostgreSQL s | DataFusion s | beside PostgreSQL | beside DataFusion |\n|---|---|---|---|---|---|";

/// PostgreSQL's indexes in addition to the primary keys. Without them some of its plans take hours.
const INDEXES: &str = "CREATE INDEX ON lineitem (l_partkey, l_suppkey); CREATE INDEX ON lineitem (l_suppkey);
    CREATE INDEX ON orders (o_custkey); CREATE INDEX ON partsupp (ps_suppkey); CREATE INDEX ON customer (c_nationkey);
    CREATE INDEX ON supplier (s_nationkey); CREATE INDEX ON nation (n_regionkey)";

/// Seconds of one query, one value per round.
#[derive(Debug, Default)]
struct Times {
    bennu: Vec<f64>,
    postgres: Vec<f64>,
    datafusion: Vec<f64>,
}

/// Runs all queries and returns their table. lineitem must be loaded.
pub(in super::super) async fn run(
    arena: &Arena,
    report: &mut Report,
    settings: &Settings,
) -> Result<Option<Report>, BenchError> {
    if !settings.wants(NAME) {
        return Ok(None);
    }
    load(arena, settings.scale).await?;
    // Without DataFusion only its column is missing.
    let mut peer = match parquet(arena, settings) {
        Ok(peer) => Some(peer),
        Err(error) => {
            report.note(&format!("TPC-H beside DataFusion over Parquet: {error}"));
            None
        }
    };
    let (ours, theirs) = (connect(&arena.bennu).await?, connect(&arena.postgres).await?);
    // Runs every query once before timing the first, since most read the same tables.
    for (number, query) in (1..).zip(QUERIES) {
        compare(arena, (&ours, &theirs, peer.as_mut()), (number, query)).await?;
    }
    let mut times: Vec<Times> = Vec::new();
    for query in QUERIES {
        times.push(measure(arena, (&ours, &theirs, peer.as_mut()), query, settings.rounds.min(3)).await?);
    }
    planning::run(arena, report, settings, (&ours, &theirs)).await?;
    Ok(Some(summary(arena, report, &times)))
}

async fn load(arena: &Arena, scale: f64) -> Result<(), BenchError> {
    for name in data::TABLES.into_iter().filter(|name| *name != "lineitem") {
        for peer in [&arena.bennu as &dyn Peer, &arena.postgres] {
            let client = connect(peer).await?;
            // Other workloads use these table names too.
            execute(peer, &client, &format!("DROP TABLE IF EXISTS {name} CASCADE")).await?;
            execute(peer, &client, table(name).unwrap_or_default()).await?;
            let mut chunks = Vec::new();
            data::lines(name, scale, |chunk| chunks.push(chunk));
            copy(peer, &client, name, chunks).await?;
        }
    }
    for (peer, analyze) in [(&arena.bennu as &dyn Peer, "ANALYZE"), (&arena.postgres, "VACUUM ANALYZE")] {
        let client = connect(peer).await?;
        for statement in INDEXES.split(';').chain([analyze]) {
            execute(peer, &client, statement).await?;
        }
    }
    Ok(())
}

/// Writes the rows as CSV for DataFusion, which converts them to Parquet.
fn parquet(arena: &Arena, settings: &Settings) -> Result<DataFusion, BenchError> {
    let folder = arena.folder.join("parquet");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("tables.sql"), TABLES)?;
    for name in data::TABLES {
        let mut file = std::fs::File::create(folder.join(format!("{name}.csv")))?;
        let mut failed = None;
        data::lines(name, settings.scale, |chunk| {
            failed = failed.take().or(std::io::Write::write_all(&mut file, chunk.as_bytes()).err());
        });
        if let Some(error) = failed {
            return Err(error.into());
        }
    }
    DataFusion::start(&settings.python, &folder)
}

/// Runs one unmeasured round and compares the results.
async fn compare(
    arena: &Arena,
    (ours, theirs, parquet): (&Client, &Client, Option<&mut DataFusion>),
    (number, query): (usize, &str),
) -> Result<(), BenchError> {
    let name = format!("TPC-H Q{number}");
    let expected = answer(&arena.postgres, theirs, query).await?.1;
    must_agree(&name, ("Bennu", &answer(&arena.bennu, ours, query).await?.1), ("PostgreSQL", &expected))?;
    if let Some(peer) = parquet {
        must_agree(&name, ("DataFusion", &peer.answer(query)?.1), ("PostgreSQL", &expected))?;
    }
    Ok(())
}

async fn measure(
    arena: &Arena,
    (ours, theirs, mut parquet): (&Client, &Client, Option<&mut DataFusion>),
    query: &str,
    rounds: usize,
) -> Result<Times, BenchError> {
    let mut times = Times::default();
    for _ in 0..rounds {
        times.bennu.push(answer(&arena.bennu, ours, query).await?.0);
        times.postgres.push(answer(&arena.postgres, theirs, query).await?.0);
        if let Some(peer) = parquet.as_deref_mut() {
            times.datafusion.push(peer.answer(query)?.0);
        }
    }
    Ok(times)
}

/// Adds totals and peak memory to `report`, and returns the table of the queries.
fn summary(arena: &Arena, report: &mut Report, times: &[Times]) -> Report {
    let total = |of: fn(&Times) -> &Vec<f64>| vec![times.iter().map(|t| median(of(t))).sum::<f64>()];
    let (ours, theirs, parquet) = (total(|t| &t.bennu), total(|t| &t.postgres), total(|t| &t.datafusion));
    let line = |peer: &str, ours: Vec<f64>, theirs: Vec<f64>, target| Line {
        name: format!("TPC-H, total of 22 queries, beside {peer}"),
        unit: "s",
        better: Better::Less,
        ours,
        theirs,
        target: Some(target),
    };
    report.add(&line("PostgreSQL", ours.clone(), theirs, 3.5));
    if times.iter().all(|t| !t.datafusion.is_empty()) {
        report.add(&line("DataFusion over Parquet", ours, parquet, 0.7));
    }
    report.limit("TPC-H: the server's peak memory", arena.bennu.peak() as f64 / 1e6, "MB", 4_000.0);
    let mut queries = Report::with_head(HEAD);
    for (number, t) in (1..).zip(times) {
        let (bennu, postgres, datafusion) = (median(&t.bennu), median(&t.postgres), median(&t.datafusion));
        let seconds = [bennu, postgres, datafusion].map(figure).join(" | ");
        queries.print(format!("| Q{number} | {seconds} | {:.2}x | {:.2}x |", postgres / bennu, datafusion / bennu));
    }
    queries
}
