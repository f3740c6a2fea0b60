//! TPC-H lineitem: loaded by COPY into a table with its key, then scanned completely.

use super::answer::{answer, must_agree};
use super::copy::copy;
use super::{Arena, memory, restart, tpch};
use crate::Settings;
use crate::error::BenchError;
use crate::peer::{Peer, connect, run as execute};
use crate::report::{Better, Line, Report};
use tokio_postgres::Client;

/// Q1 and Q6 of TPC-H.
pub(super) const SCANS: [(&str, &str); 2] = [("Q1", Q1), ("Q6", Q6)];

const Q6: &str = "SELECT sum(l_extendedprice * l_discount) AS revenue FROM lineitem
     WHERE l_shipdate >= date '1994-01-01' AND l_shipdate < date '1995-01-01'
     AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24";

const Q1: &str = "SELECT l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice),
     sum(l_extendedprice * (1 - l_discount)), sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)),
     avg(l_quantity), avg(l_extendedprice), avg(l_discount), count(*)
     FROM lineitem WHERE l_shipdate <= date '1998-09-02'
     GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus";

/// Name, query, target.
const QUERIES: [(&str, &str, f64); 3] = [
    ("full scan: count(*)", "SELECT count(*) FROM lineitem", 10.0),
    ("full scan: Q6", Q6, 3.0),
    ("full scan: Q1", Q1, 5.0),
];

async fn run_scans(arena: &Arena, report: &mut Report, settings: &Settings) -> Result<(), BenchError> {
    for (name, query, target) in QUERIES {
        if !settings.wants(name) {
            continue;
        }
        let (ours, theirs) = (connect(&arena.bennu).await?, connect(&arena.postgres).await?);
        // Warms the caches and compares the results.
        let (our_rows, their_rows) =
            (answer(&arena.bennu, &ours, query).await?.1, answer(&arena.postgres, &theirs, query).await?.1);
        must_agree(name, ("Bennu", &our_rows), ("PostgreSQL", &their_rows))?;
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for _ in 0..settings.rounds {
            a.push(answer(&arena.bennu, &ours, query).await?.0);
            b.push(answer(&arena.postgres, &theirs, query).await?.0);
        }
        report.add(&Line {
            name: name.into(),
            unit: "s",
            better: Better::Less,
            ours: a,
            theirs: b,
            target: Some(target),
        });
    }
    Ok(())
}

pub(super) async fn run(arena: &Arena, report: &mut Report, settings: &Settings) -> Result<(), BenchError> {
    let scans = QUERIES.iter().any(|(name, ..)| settings.wants(name));
    let timed = settings.wants("COPY lineitem");
    if !scans && !timed && !settings.wants("memory") && !settings.wants(tpch::NAME) && !settings.wants(restart::NAME) {
        return Ok(());
    }
    // COPY is slow: fewer rounds, each into a new table.
    let rounds = if timed { settings.rounds.min(settings.loads) } else { 1 };
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        for (peer, times) in [(&arena.bennu as &dyn Peer, &mut ours), (&arena.postgres, &mut theirs)] {
            let client = connect(peer).await?;
            anew(peer, &client).await?;
            times.push(copy(peer, &client, "lineitem", lines(settings.scale)).await?);
        }
    }
    if timed {
        let line =
            Line { name: "COPY lineitem".into(), unit: "s", better: Better::Less, ours, theirs, target: Some(3.0) };
        report.add(&line);
    }
    memory::after_load(arena, report, settings);
    let client = connect(&arena.postgres).await?;
    execute(&arena.postgres, &client, "VACUUM ANALYZE lineitem").await?;
    run_scans(arena, report, settings).await
}

/// Drops and recreates lineitem with its key.
pub(super) async fn anew(peer: &dyn Peer, client: &Client) -> Result<(), BenchError> {
    execute(peer, client, "DROP TABLE IF EXISTS lineitem").await?;
    execute(peer, client, tpch::table("lineitem").unwrap_or_default()).await
}

/// lineitem in chunks of about 1 MiB.
pub(super) fn lines(scale: f64) -> Vec<String> {
    let mut chunks = Vec::new();
    tpch::data::lines("lineitem", scale, |chunk| chunks.push(chunk));
    chunks
}
