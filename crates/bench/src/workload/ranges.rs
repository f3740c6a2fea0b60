//! Short ranges of the rowkey, compared with PostgreSQL's matching index.

use super::Arena;
use crate::Settings;
use crate::error::BenchError;
use crate::report::Report;

const HOSTS: u32 = 200;
const EACH: u32 = 2_000;

/// Name, script; every target is 1.2x with 8 connections.
const SCRIPTS: [(&str, &str); 4] = [
    (
        "range of 100 rows",
        "\\set host random(1, 200)\n\\set at random(1, 1900)\n\
         SELECT at, value FROM plain WHERE host = :host AND at >= :at AND at < :at + 100;\n",
    ),
    (
        "skip scan",
        "\\set a random(1, 200)\n\\set b random(1, 200)\n\\set at random(1, 1990)\n\
         SELECT host, at, value FROM plain WHERE host IN (:a, :b) AND at IN (:at, :at + 3, :at + 7);\n",
    ),
    (
        "ordered read over 8 salt buckets",
        "\\set host random(1, 200)\n\
         SELECT host, at, value FROM salted WHERE host >= :host ORDER BY host, at LIMIT 100;\n",
    ),
    (
        "newest 10 by prefix",
        "\\set host random(1, 200)\n\
         SELECT at, value FROM plain WHERE host = :host ORDER BY at DESC LIMIT 10;\n",
    ),
];

pub(super) async fn run(arena: &Arena, report: &mut Report, settings: &Settings) -> Result<(), BenchError> {
    if !SCRIPTS.iter().any(|(name, _)| settings.wants(name)) {
        return Ok(());
    }
    let rows = format!(
        "SELECT h, a, h * a, 'reading' FROM generate_series(1, {HOSTS}) AS x(h), generate_series(1, {EACH}) AS y(a)"
    );
    let columns = "(host integer, at integer, value bigint, note varchar, PRIMARY KEY (host, at))";
    let bennu = format!(
        "CREATE TABLE plain {columns}; CREATE TABLE salted {columns} SALT_BUCKETS = 8;
         INSERT INTO plain {rows}; INSERT INTO salted {rows}"
    );
    let postgres = format!(
        "CREATE TABLE plain {columns}; CREATE TABLE salted {columns};
         INSERT INTO plain {rows}; INSERT INTO salted {rows}; VACUUM ANALYZE plain; VACUUM ANALYZE salted"
    );
    arena.prepare(&bennu, &postgres).await?;
    for (name, script) in SCRIPTS {
        if settings.wants(name) {
            arena.script(report, settings, (&format!("{name}, 8 connections"), script, 8, Some(1.2)))?;
        }
    }
    Ok(())
}
