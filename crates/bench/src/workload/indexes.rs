//! Secondary indexes of small rows: their cost for writes and their gain for reads.

use super::{Arena, rows_at};
use crate::Settings;
use crate::error::BenchError;
use crate::pgbench::{self, Protocol, Script};
use crate::report::{Better, Line, Report};

/// Connections, and the target ratio of the rate with three indexes to that without.
const UPDATES: [(u32, f64); 3] = [(1, 0.8), (8, 0.7), (64, 0.6)];
/// Connections and target.
const UPSERTS: [(u32, f64); 2] = [(8, 1.2), (64, 2.0)];
/// Name, query by the indexed column, target with 8 connections.
const READS: [(&str, &str, f64); 3] = [
    ("look-up by a covered index", "SELECT a, b FROM indexed WHERE a = :a", 1.2),
    ("look-up by an uncovered index", "SELECT a, b, filler FROM indexed WHERE a = :a", 1.0),
    (
        "range of 1,000 rows by an uncovered index",
        "SELECT id, filler FROM indexed WHERE a >= :a AND a < :a + 1000",
        0.8,
    ),
];

fn update_name(clients: u32) -> String {
    format!("update of an indexed column of 3 beside none (Bennu both), {clients} connections")
}

fn upsert_name(clients: u32) -> String {
    format!("durable upsert with 3 indexes, {clients} connections")
}

fn read_name(name: &str) -> String {
    format!("{name}, 8 connections")
}

pub(super) async fn run(arena: &Arena, report: &mut Report, settings: &Settings) -> Result<(), BenchError> {
    let wanted = UPDATES.iter().any(|(clients, _)| settings.wants(&update_name(*clients)))
        || UPSERTS.iter().any(|(clients, _)| settings.wants(&upsert_name(*clients)))
        || READS.iter().any(|(name, ..)| settings.wants(&read_name(name)));
    if !wanted {
        return Ok(());
    }
    let rows = rows_at(settings.scale, 100_000);
    let fill = fill(rows);
    arena.prepare(&fill, &format!("{fill}; VACUUM ANALYZE")).await?;
    reads(arena, report, settings, rows)?;
    updates(arena, report, settings, rows)?;
    let script = format!(
        "\\set id random(1, {rows})\n\\set a random(1, {rows})\n\
         INSERT INTO indexed VALUES (:id, :a, :a % 1000, 'c' || :a % 77, 'upserted') ON CONFLICT (id) DO UPDATE \
         SET a = excluded.a, b = excluded.b, c = excluded.c, filler = excluded.filler;\n"
    );
    for (clients, target) in UPSERTS {
        let name = upsert_name(clients);
        if settings.wants(&name) {
            arena.script(report, settings, (&name, &script, clients, Some(target)))?;
        }
    }
    Ok(())
}

fn reads(arena: &Arena, report: &mut Report, settings: &Settings, rows: u64) -> Result<(), BenchError> {
    for (name, sql, target) in READS {
        let name = read_name(name);
        if settings.wants(&name) {
            let script = format!("\\set a random(1, {rows})\n{sql};\n");
            arena.script(report, settings, (&name, &script, 8, Some(target)))?;
        }
    }
    Ok(())
}

/// Compares the same statement on a table with indexes and on one without, both in Bennu.
fn updates(arena: &Arena, report: &mut Report, settings: &Settings, rows: u64) -> Result<(), BenchError> {
    let script_of = |table: &str| -> Result<_, BenchError> {
        let path = arena.folder.join(format!("update-{table}.sql"));
        let ids = format!("\\set id random(1, {rows})\n\\set a random(1, {rows})\n");
        std::fs::write(&path, format!("{ids}UPDATE {table} SET a = :a WHERE id = :id;\n"))?;
        Ok(path)
    };
    let (indexed, bare) = (script_of("indexed")?, script_of("bare")?);
    for (clients, target) in UPDATES {
        let name = update_name(clients);
        if !settings.wants(&name) {
            continue;
        }
        let (mut with, mut without) = (Vec::new(), Vec::new());
        for _ in 0..settings.rounds {
            for (path, rates) in [(&indexed, &mut with), (&bare, &mut without)] {
                let script = Script::File(path, Protocol::Prepared);
                rates.push(pgbench::run(&arena.bennu, script, clients, settings.seconds)?);
            }
        }
        let target = Some(target);
        report.add(&Line { name, unit: "1/s", better: Better::More, ours: with, theirs: without, target });
    }
    Ok(())
}

/// Creates two equal tables, one with three indexes.
fn fill(rows: u64) -> String {
    let columns = "(id bigint PRIMARY KEY, a integer, b integer, c varchar, filler varchar(84))";
    let row = format!(
        "SELECT i, (i * 7919) % {rows} + 1, i % 1000, 'c' || i % 77,
                'some eighty characters of text that stand for what a row holds besides its figures'
         FROM generate_series(1, {rows}) AS g(i)"
    );
    format!(
        "CREATE TABLE indexed {columns}; CREATE TABLE bare {columns};
         CREATE INDEX indexed_a ON indexed (a) INCLUDE (b); CREATE INDEX indexed_b ON indexed (b);
         CREATE INDEX indexed_c ON indexed (c); INSERT INTO indexed {row}; INSERT INTO bare {row}"
    )
}
