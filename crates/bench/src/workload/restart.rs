//! Scans of a table right after a restart, by block cache size: the cost of filling the cache in the first scan, its
//! gain for later scans, and its memory.

use super::Arena;
use super::analytics::SCANS;
use super::answer::answer;
use crate::Settings;
use crate::error::BenchError;
use crate::peer::{Peer, connect};
use crate::report::{Report, figure, median};

pub(super) const NAME: &str = "scans after a restart";

/// Block cache sizes in MiB. The first holds hardly any of a scan; `None` is the server's default.
const CACHES: [Option<u32>; 3] = [Some(1), Some(64), None];

/// Largest allowed ratio of a first scan to one without a cache.
const MOST: f64 = 1.3;

/// Medians of one query with one cache size.
#[derive(Clone, Copy)]
struct Scan {
    first: f64,
    warm: f64,
    /// Resident bytes after the scans.
    resident: f64,
}

/// Runs the workload; lineitem must be loaded. Restarts the server with default settings at the end.
pub(super) async fn run(arena: &mut Arena, report: &mut Report, settings: &Settings) -> Result<(), BenchError> {
    if !settings.wants(NAME) {
        return Ok(());
    }
    for (name, query) in SCANS {
        let mut without = None;
        for cache in CACHES {
            let scan = measure(arena, query, cache, settings.rounds).await?;
            let size = cache.map_or("its own size".to_string(), |mib| format!("{mib} MB"));
            let name = format!("{NAME}: {name}, cache of {size}: {} s first", figure(scan.first));
            let name = format!("{name}, {} warm, {} MB resident", figure(scan.warm), figure(scan.resident / 1e6));
            match without {
                None => report.print(format!("| {name} | | | | | | |")),
                Some(without) => report.limit(&name, scan.first / without, "times without a cache", MOST),
            }
            without = without.or(Some(scan.first));
        }
    }
    arena.bennu.restart(None).await
}

async fn measure(arena: &mut Arena, query: &str, cache: Option<u32>, rounds: usize) -> Result<Scan, BenchError> {
    let (mut first, mut warm, mut resident) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        arena.bennu.restart(cache).await?;
        let client = connect(&arena.bennu).await?;
        first.push(answer(&arena.bennu, &client, query).await?.0);
        let mut again = Vec::new();
        for _ in 0..3 {
            again.push(answer(&arena.bennu, &client, query).await?.0);
        }
        warm.push(median(&again));
        resident.push(arena.bennu.resident() as f64);
    }
    Ok(Scan { first: median(&first), warm: median(&warm), resident: median(&resident) })
}
