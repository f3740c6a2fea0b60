//! Indexes of lineitem: loaded with the rows, and built over existing rows.

use super::copy::copy;
use super::latency::{Probe, p99_beside};
use super::{Arena, analytics};
use crate::Settings;
use crate::error::BenchError;
use crate::peer::{Peer, connect, run as execute};
use crate::report::{Better, Line, Report};
use std::time::{Duration, Instant};
use tokio_postgres::Client;

const LOAD: &str = "COPY lineitem with its key and 3 indexes";
const BUILD: &str = "CREATE INDEX on lineitem";
const BESIDE: &str = "p99 of reads by key during CREATE INDEX CONCURRENTLY";

/// The largest order key at scale 1.
const ORDER_KEYS: u32 = 6_000_000;

const INDEXES: [&str; 3] = [
    "CREATE INDEX lineitem_part ON lineitem (l_partkey, l_suppkey)",
    "CREATE INDEX lineitem_supplier ON lineitem (l_suppkey)",
    "CREATE INDEX lineitem_shipped ON lineitem (l_shipdate)",
];

pub(super) async fn run(arena: &Arena, report: &mut Report, settings: &Settings) -> Result<(), BenchError> {
    if settings.wants(LOAD) {
        load(arena, report, settings).await?;
    }
    if !settings.wants(BUILD) && !settings.wants(BESIDE) {
        return Ok(());
    }
    for peer in [&arena.bennu as &dyn Peer, &arena.postgres] {
        let client = connect(peer).await?;
        analytics::anew(peer, &client).await?;
        copy(peer, &client, "lineitem", analytics::lines(settings.scale)).await?;
    }
    if settings.wants(BUILD) {
        build(arena, report, settings).await?;
    }
    if settings.wants(BESIDE) {
        beside(arena, report, settings).await?;
    }
    Ok(())
}

async fn load(arena: &Arena, report: &mut Report, settings: &Settings) -> Result<(), BenchError> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..settings.rounds.min(settings.loads) {
        for (peer, times) in [(&arena.bennu as &dyn Peer, &mut ours), (&arena.postgres, &mut theirs)] {
            let client = connect(peer).await?;
            analytics::anew(peer, &client).await?;
            for index in INDEXES {
                execute(peer, &client, index).await?;
            }
            times.push(copy(peer, &client, "lineitem", analytics::lines(settings.scale)).await?);
        }
    }
    report.add(&Line { name: LOAD.into(), unit: "s", better: Better::Less, ours, theirs, target: Some(4.0) });
    Ok(())
}

async fn build(arena: &Arena, report: &mut Report, settings: &Settings) -> Result<(), BenchError> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..settings.rounds.min(settings.loads) {
        for (peer, times) in [(&arena.bennu as &dyn Peer, &mut ours), (&arena.postgres, &mut theirs)] {
            let client = connect(peer).await?;
            times.push(seconds(peer, &client, "").await?);
        }
    }
    report.add(&Line { name: BUILD.into(), unit: "s", better: Better::Less, ours, theirs, target: Some(2.0) });
    Ok(())
}

/// Build time of one index in seconds; it is dropped afterwards.
async fn seconds(peer: &dyn Peer, client: &Client, concurrently: &str) -> Result<f64, BenchError> {
    let begin = Instant::now();
    let create = format!("CREATE INDEX {concurrently} lineitem_part ON lineitem (l_partkey, l_suppkey)");
    execute(peer, client, &create).await?;
    let seconds = begin.elapsed().as_secs_f64();
    execute(peer, client, "DROP INDEX lineitem_part").await?;
    Ok(seconds)
}

async fn beside(arena: &Arena, report: &mut Report, settings: &Settings) -> Result<(), BenchError> {
    let peer: &dyn Peer = &arena.bennu;
    let client = connect(peer).await?;
    let sql = "SELECT l_quantity, l_comment FROM lineitem WHERE l_orderkey = $1";
    let keys = super::rows_at(settings.scale, ORDER_KEYS);
    let probe = Probe { sql, keys, clients: 4 };
    let pause = async {
        tokio::time::sleep(Duration::from_secs(settings.seconds.into())).await;
        Ok(())
    };
    let (idle, ()) = p99_beside(peer, probe, pause).await?;
    let (during, _) = p99_beside(peer, probe, seconds(peer, &client, "CONCURRENTLY")).await?;
    report.limit(BESIDE, during / idle, "times idle", 3.0);
    Ok(())
}
