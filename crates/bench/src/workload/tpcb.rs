//! pgbench's own scripts on its own tables, ten branches at scale 1.

use super::{Arena, rows_at};
use crate::Settings;
use crate::error::BenchError;
use crate::pgbench::Script;
use crate::report::Report;

const SCRIPTS: [&str; 3] = ["tpcb-like", "simple-update", "select-only"];

pub(super) async fn run(arena: &Arena, report: &mut Report, settings: &Settings) -> Result<(), BenchError> {
    let name = |script: &str, clients: u32| format!("pgbench {script}, {clients} connections");
    let wanted = |script: &str| [1, 8].iter().any(|clients| settings.wants(&name(script, *clients)));
    if !SCRIPTS.iter().any(|script| wanted(script)) {
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
    for script in SCRIPTS {
        for clients in [1, 8] {
            let name = name(script, clients);
            if settings.wants(&name) {
                arena.alternate(report, settings, (&name, Script::Builtin(script), clients, None))?;
            }
        }
    }
    Ok(())
}
