//! EXPLAIN of the 22 queries: planning without running.

use super::super::Arena;
use super::QUERIES;
use crate::Settings;
use crate::error::BenchError;
use crate::peer::{Peer, run as execute};
use crate::report::{Better, Line, Report};
use std::time::Instant;
use tokio_postgres::Client;

/// At most five times as long as PostgreSQL's.
const TARGET: f64 = 0.2;

/// Adds the line of all queries' planning together. Expects the tables in their place.
pub(super) async fn run(
    arena: &Arena,
    report: &mut Report,
    settings: &Settings,
    (ours, theirs): (&Client, &Client),
) -> Result<(), BenchError> {
    // Once for the first look at tables and statistics.
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
    Ok(())
}

/// Milliseconds.
async fn explain_all(peer: &dyn Peer, client: &Client) -> Result<f64, BenchError> {
    let begun = Instant::now();
    for query in QUERIES {
        execute(peer, client, &format!("EXPLAIN {query}")).await?;
    }
    Ok(begun.elapsed().as_secs_f64() * 1e3)
}
