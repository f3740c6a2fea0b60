//! Transactions like sysbench's OLTP scripts: a table with one secondary index, ranges of a hundred rows.
//!
//! Custom scripts for pgbench: sysbench stops at the first conflict of two clients that delete and insert one row, so
//! each client writes only its own rows here.

use super::Arena;
use crate::Settings;
use crate::error::BenchError;
use crate::report::Report;
use std::fmt::Write as _;

const CLIENTS: u32 = 8;
const TARGET: f64 = 1.2;
/// Rows per client.
const OWN: u32 = 10_000;

pub(super) async fn run(arena: &Arena, report: &mut Report, settings: &Settings) -> Result<(), BenchError> {
    let scripts = [("OLTP read_write", read_write()), ("OLTP random_ranges", random_ranges())];
    let name_of = |name: &str| format!("{name}, {CLIENTS} connections");
    if !scripts.iter().any(|(name, _)| settings.wants(&name_of(name))) {
        return Ok(());
    }
    let rows = CLIENTS * OWN;
    let fill = format!(
        "CREATE TABLE oltp (id bigint PRIMARY KEY, k integer NOT NULL, c char(120) NOT NULL, pad char(60) NOT NULL);
         CREATE INDEX oltp_k ON oltp (k);
         INSERT INTO oltp SELECT i, (i * 7919) % {rows} + 1, repeat(md5(i::text), 3), md5(i::text)
                FROM generate_series(1, {rows}) AS g(i)"
    );
    arena.prepare(&fill, &format!("{fill}; VACUUM ANALYZE oltp")).await?;
    for (name, script) in scripts {
        let name = name_of(name);
        if settings.wants(&name) {
            arena.script(report, settings, (&name, &script, CLIENTS, Some(TARGET)))?;
        }
    }
    Ok(())
}

/// Ten reads by key, four ranges, an update of the indexed column, an update of another, a row deleted and reinserted.
fn read_write() -> String {
    let rows = CLIENTS * OWN;
    let mut script = String::from("BEGIN;\n");
    // Writing to a String cannot fail.
    for _ in 0..10 {
        let _ = writeln!(script, "\\set id random(1, {rows})\nSELECT c FROM oltp WHERE id = :id;");
    }
    for what in ["SELECT c", "SELECT sum(k)", "SELECT c", "SELECT DISTINCT c"] {
        let _ = write!(script, "\\set id random(1, {rows} - 99)\n{what} FROM oltp WHERE id BETWEEN :id AND :id + 99");
        // The third and fourth ranges have ORDER BY.
        let ordered = if script.matches("BETWEEN").count() > 2 { " ORDER BY c" } else { "" };
        let _ = writeln!(script, "{ordered};");
    }
    let own = format!("\\set id 1 + :client_id * {OWN} + random(0, {OWN} - 1)\n");
    let _ = writeln!(script, "{own}UPDATE oltp SET k = k + 1 WHERE id = :id;");
    let _ = write!(script, "{own}\\set c random(1, 1000000)\nUPDATE oltp SET c = :c WHERE id = :id;\n");
    let _ = writeln!(script, "{own}DELETE FROM oltp WHERE id = :id;");
    script.push_str("INSERT INTO oltp VALUES (:id, :id, 'c', 'pad');\nEND;\n");
    script
}

/// One statement with ten short ranges of the indexed column.
fn random_ranges() -> String {
    let rows = CLIENTS * OWN;
    let (mut bounds, mut ranges) = (String::new(), Vec::new());
    for range in 0..10 {
        let _ = writeln!(bounds, "\\set r{range} random(1, {rows})");
        ranges.push(format!("k BETWEEN :r{range} AND :r{range} + 5"));
    }
    format!("{bounds}SELECT count(k) FROM oltp WHERE {};\n", ranges.join(" OR "))
}
