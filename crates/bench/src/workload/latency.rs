//! Latency of single statements beside other work.

use crate::error::BenchError;
use crate::peer::{Peer, connect};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use tokio_postgres::Client;

/// A statement with one bigint key as its parameter.
#[derive(Clone, Copy)]
pub(super) struct Probe<'a> {
    pub(super) sql: &'a str,
    /// Keys are 1 to this number.
    pub(super) keys: u64,
    /// Connections that run it, each without a pause.
    pub(super) clients: u64,
}

/// Runs the probe until `work` ends. Returns the probe's 99th percentile in milliseconds, and the result of `work`.
pub(super) async fn p99_beside<T>(
    peer: &dyn Peer,
    probe: Probe<'_>,
    work: impl Future<Output = Result<T, BenchError>>,
) -> Result<(f64, T), BenchError> {
    let ended = Arc::new(AtomicBool::new(false));
    let mut probes = Vec::new();
    for number in 0..probe.clients {
        let (client, until) = (connect(peer).await?, ended.clone());
        let (sql, keys) = (probe.sql.to_string(), probe.keys);
        probes.push(tokio::spawn(async move { probe_until(&client, &sql, keys, number, &until).await }));
    }
    let worked = work.await;
    ended.store(true, Ordering::Relaxed);
    let mut times = Vec::new();
    for task in probes {
        let probed = task.await.map_err(|error| BenchError::Wrong(error.to_string()))?;
        times.append(&mut probed.map_err(|error| BenchError::Sql { server: peer.name(), error })?);
    }
    Ok((percentile(times, 99), worked?))
}

async fn probe_until(
    client: &Client,
    sql: &str,
    keys: u64,
    number: u64,
    ended: &AtomicBool,
) -> Result<Vec<f64>, tokio_postgres::Error> {
    let statement = client.prepare(sql).await?;
    let mut times = Vec::new();
    let mut random = 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(number + 1);
    while !ended.load(Ordering::Relaxed) {
        // Xorshift (Marsaglia 2003).
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let key = i64::try_from(random % keys + 1).unwrap_or(1);
        let begin = Instant::now();
        client.query(&statement, &[&key]).await?;
        times.push(begin.elapsed().as_secs_f64() * 1e3);
    }
    Ok(times)
}

fn percentile(mut times: Vec<f64>, percent: usize) -> f64 {
    times.sort_by(f64::total_cmp);
    let last = times.len().saturating_sub(1);
    times.get(last * percent / 100).copied().unwrap_or(f64::NAN)
}
