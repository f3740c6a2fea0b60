//! A statement that writes 200 MB, and the latency of point selects beside it.

use super::latency::{Probe, p99_beside};
use super::{Arena, rows_at};
use crate::Settings;
use crate::error::BenchError;
use crate::peer::{Peer, connect, run as execute};
use crate::report::{Report, figure, median};
use std::time::{Duration, Instant};

const NAME: &str = "p99 of point selects beside an UPDATE of 200 MB";

pub(super) async fn run(arena: &Arena, report: &mut Report, settings: &Settings) -> Result<(), BenchError> {
    if !settings.wants(NAME) {
        return Ok(());
    }
    let rows = rows_at(settings.scale, 200_000);
    let fill = format!(
        "CREATE TABLE large (id bigint PRIMARY KEY, v varchar);
         INSERT INTO large SELECT i, repeat(md5(i::text), 32) FROM generate_series(1, {rows}) AS g(i)"
    );
    arena.prepare(&fill, &format!("{fill}; VACUUM ANALYZE large")).await?;
    let probe = Probe { sql: "SELECT id, v FROM large WHERE id = $1", keys: rows, clients: 4 };
    for (peer, limit) in [(&arena.bennu as &dyn Peer, Some(5.0)), (&arena.postgres, None)] {
        let (mut idle, mut beside, mut took) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..settings.rounds {
            let pause = async {
                tokio::time::sleep(Duration::from_secs(settings.seconds.into())).await;
                Ok(())
            };
            idle.push(p99_beside(peer, probe, pause).await?.0);
            let client = connect(peer).await?;
            let update = format!("UPDATE large SET v = overlay(v placing '{round:03}' from 1)");
            let begin = Instant::now();
            beside.push(p99_beside(peer, probe, execute(peer, &client, &update)).await?.0);
            took.push(begin.elapsed().as_secs_f64());
        }
        let (idle, beside) = (median(&idle), median(&beside));
        let name = format!("{NAME}, {}: {} ms idle, {} beside, of", peer.name(), figure(idle), figure(beside));
        let name = format!("{name} {} s", figure(median(&took)));
        match limit {
            Some(limit) => report.limit(&name, beside / idle, "times idle", limit),
            None => report.print(format!("| {name} | | {} | times idle | | | |", figure(beside / idle))),
        }
    }
    Ok(())
}
