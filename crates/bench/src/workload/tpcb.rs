//! pgbench's built-in scripts on its own tables, ten branches at scale 1.

use super::{Arena, rows_at};
use crate::Settings;
use crate::error::BenchError;
use crate::pgbench::Script;
use crate::report::Report;

/// Connections, and the target ratio to PostgreSQL.
type Clients = &'static [(u32, Option<f64>)];

const SCRIPTS: [(&str, Clients); 3] = [
    ("tpcb-like", &[(1, Some(1.2)), (8, Some(1.5)), (64, Some(2.0))]),
    ("simple-update", &[(1, None), (8, None)]),
    ("select-only", &[(1, None), (8, None)]),
];

pub(super) async fn run(arena: &Arena, report: &mut Report, settings: &Settings) -> Result<(), BenchError> {
    let name = |script: &str, clients: u32| format!("pgbench {script}, {clients} connections");
    let wanted =
        |(script, all): &(&str, Clients)| all.iter().any(|(clients, _)| settings.wants(&name(script, *clients)));
    if !SCRIPTS.iter().any(wanted) {
        return Ok(());
    }
    let branches = rows_at(settings.scale, 10);
    let fill = format!(
        "CREATE TABLE pgbench_branches (bid integer PRIMARY KEY, bbalance integer, filler char(88));
         CREATE TABLE pgbench_tellers (tid integer PRIMARY KEY, bid integer, tbalance integer, filler char(84));
         CREATE TABLE pgbench_accounts (aid integer PRIMARY KEY, bid integer, abalance integer, filler char(84));
         CREATE TABLE pgbench_history (tid integer, bid integer, aid integer, delta integer, mtime timestamp, filler char(22));
         INSERT INTO pgbench_branches SELECT b, 0, NULL FROM generate_series(1, {branches}) AS g(b);
         INSERT INTO pgbench_tellers SELECT t, (t - 1) / 10 + 1, 0, NULL FROM generate_series(1, {branches} * 10) AS g(t);
         INSERT INTO pgbench_accounts SELECT a, (a - 1) / 100000 + 1, 0, '' FROM generate_series(1, {branches} * 100000) AS g(a)"
    );
    arena.prepare(&fill, &format!("{fill}; VACUUM ANALYZE")).await?;
    for (script, all) in SCRIPTS {
        for &(clients, target) in all {
            let name = name(script, clients);
            if settings.wants(&name) {
                arena.alternate(report, settings, (&name, Script::Builtin(script), clients, target))?;
            }
        }
    }
    Ok(())
}
