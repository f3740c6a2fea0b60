//! EXPLAIN of the 22 queries: planning time without execution, in total and by phase.

use super::super::Arena;
use super::QUERIES;
use crate::Settings;
use crate::error::BenchError;
use crate::peer::{Peer, run as execute};
use crate::report::{Better, Line, Report, figure};
use std::time::Instant;
use tokio_postgres::{Client, SimpleQueryMessage};

/// Target: at most five times PostgreSQL's time.
const TARGET: f64 = 0.2;

/// Adds a line for the planning time of all queries. The tables must be loaded.
pub(super) async fn run(
    arena: &Arena,
    report: &mut Report,
    settings: &Settings,
    (ours, theirs): (&Client, &Client),
) -> Result<(), BenchError> {
    // Unmeasured, for the first access to tables and statistics.
    explain_all(&arena.bennu, ours).await?;
    explain_all(&arena.postgres, theirs).await?;
    let (mut bennu, mut postgres) = (Vec::new(), Vec::new());
    for _ in 0..settings.rounds {
        bennu.push(explain_all(&arena.bennu, ours).await?);
        postgres.push(explain_all(&arena.postgres, theirs).await?);
    }
    report.add(&Line {
        name: "TPC-H, EXPLAIN of 22 queries".into(),
        unit: "ms",
        better: Better::Less,
        ours: bennu,
        theirs: postgres,
        target: Some(TARGET),
    });
    phases(arena, report, ours).await
}

/// Adds one line per phase, over all queries.
async fn phases(arena: &Arena, report: &mut Report, client: &Client) -> Result<(), BenchError> {
    let failed = |error| BenchError::Sql { server: arena.bennu.name(), error };
    let mut totals: Vec<(String, f64)> = Vec::new();
    for query in QUERIES {
        let rows = client.simple_query(&format!("EXPLAIN (SUMMARY) {query}")).await.map_err(failed)?;
        for (phase, millis) in rows.iter().filter_map(line).flat_map(times) {
            match totals.iter_mut().find(|(name, _)| *name == phase) {
                Some((_, total)) => *total += millis,
                None => totals.push((phase, millis)),
            }
        }
    }
    for (phase, total) in totals {
        let name = format!("TPC-H, EXPLAIN of 22 queries: {}", phase.to_lowercase());
        report.print(format!("| {name} | {} | | ms | | | |", figure(total)));
    }
    Ok(())
}

fn line(message: &SimpleQueryMessage) -> Option<&str> {
    match message {
        SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    }
}

/// Parses the phases of a line: `Bind: 0.248 ms, lower: 0.302 ms, …`.
fn times(line: &str) -> Vec<(String, f64)> {
    let phase = |part: &str| {
        let (name, time) = part.split_once(": ")?;
        Some((name.trim().to_owned(), time.strip_suffix(" ms")?.parse().ok()?))
    };
    line.split(", ").filter_map(phase).collect()
}

/// Explains all queries. Returns the time in milliseconds.
async fn explain_all(peer: &dyn Peer, client: &Client) -> Result<f64, BenchError> {
    let begun = Instant::now();
    for query in QUERIES {
        execute(peer, client, &format!("EXPLAIN {query}")).await?;
    }
    Ok(begun.elapsed().as_secs_f64() * 1e3)
}
