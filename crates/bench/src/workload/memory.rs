//! Memory and restart time after the loads: limits rather than ratios.

use super::Arena;
use crate::Settings;
use crate::error::BenchError;
use crate::peer::{Peer, connect};
use crate::report::Report;
use std::time::Instant;

const IDLE: usize = 1_000;

/// The server's memory right after the load of lineitem, before any read.
pub(super) fn after_load(arena: &Arena, report: &mut Report, settings: &Settings) {
    if settings.wants("memory") {
        report.limit("memory: server after the load", arena.bennu.resident() as f64 / 1e6, "MB", 1_000.0);
    }
}

pub(super) async fn run(arena: &mut Arena, report: &mut Report, settings: &Settings) -> Result<(), BenchError> {
    if !settings.wants("memory") {
        return Ok(());
    }
    let before = arena.bennu.resident();
    let mut clients = Vec::with_capacity(IDLE);
    for _ in 0..IDLE {
        let client = connect(&arena.bennu).await?;
        client.simple_query("SELECT 1").await.map_err(|error| BenchError::Sql { server: "Bennu", error })?;
        clients.push(client);
    }
    let each = arena.bennu.resident().saturating_sub(before) as f64 / IDLE as f64;
    report.limit("memory: each of 1,000 idle connections", each / 1e3, "kB", 100.0);
    drop(clients);
    let begin = Instant::now();
    arena.bennu.kill_and_restart()?;
    let client = connect(&arena.bennu).await?;
    let asked = client.simple_query("SELECT count(*) FROM (SELECT 1) AS one").await;
    asked.map_err(|error| BenchError::Sql { server: "Bennu", error })?;
    report.limit("memory: first answer after kill -9", begin.elapsed().as_secs_f64(), "s", 2.0);
    Ok(())
}
