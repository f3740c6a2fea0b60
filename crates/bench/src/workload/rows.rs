//! Single-row statements: point selects and durable upserts.

use super::Arena;
use crate::Settings;
use crate::error::BenchError;
use crate::peer::{FixedResponseServer, Peer};
use crate::pgbench::{self, Protocol, Script};
use crate::report::{Report, figure, median};

const ROWS: u32 = 100_000;

/// Targets by number of connections.
const SELECT: [(u32, f64); 3] = [(1, 1.2), (8, 1.6), (64, 2.0)];
const UPSERT: [(u32, f64); 3] = [(1, 0.95), (8, 1.5), (64, 2.0)];

pub(super) async fn run(arena: &Arena, report: &mut Report, settings: &Settings) -> Result<(), BenchError> {
    let (select, upsert) = (settings.wants("point select"), settings.wants("upsert"));
    if !select && !upsert {
        return Ok(());
    }
    let fill = format!(
        "CREATE TABLE accounts (id bigint PRIMARY KEY, balance integer, filler varchar(84));
         INSERT INTO accounts SELECT i, 0, 'some eighty characters of text that stand for what a row holds besides its figures' \
         FROM generate_series(1, {ROWS}) AS g(i)"
    );
    arena.prepare(&fill, &format!("{fill}; VACUUM ANALYZE accounts")).await?;
    let random = format!("\\set id random(1, {ROWS})\n");
    if select {
        let script = format!("{random}SELECT id, balance, filler FROM accounts WHERE id = :id;\n");
        for (clients, target) in SELECT {
            let name = format!("point select, {clients} connections");
            arena.script(report, settings, (&name, &script, clients, Some(target)))?;
        }
        most(arena, report, settings)?;
    }
    if upsert {
        let script = format!(
            "{random}INSERT INTO accounts VALUES (:id, 1, 'upserted') \
             ON CONFLICT (id) DO UPDATE SET balance = excluded.balance, filler = excluded.filler;\n"
        );
        for (clients, target) in UPSERT {
            let name = format!("durable upsert, {clients} connections");
            arena.script(report, settings, (&name, &script, clients, Some(target)))?;
        }
    }
    Ok(())
}

/// Measures the point selects against [`FixedResponseServer`], the upper bound for Bennu.
fn most(arena: &Arena, report: &mut Report, settings: &Settings) -> Result<(), BenchError> {
    let canned = FixedResponseServer::start()?;
    let script = Script::File(&arena.folder.join("script.sql"), Protocol::Prepared);
    for (clients, _) in SELECT {
        let mut rates = Vec::new();
        for _ in 0..settings.rounds {
            rates.push(pgbench::run(&canned, script, clients, settings.seconds)?);
        }
        let name = format!("{}, {clients} connections", canned.name());
        report.print(format!("| {name} | {} | | 1/s | | | |", figure(median(&rates))));
    }
    Ok(())
}
