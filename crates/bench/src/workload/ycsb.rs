//! YCSB's six workloads: rows with ten fields of a hundred characters. Keys are bigint, because pgbench has only
//! numeric
//! variables; they have a Zipf exponent of 1.01 (pgbench's minimum is 1.001, YCSB uses 0.99) and are scattered.

use super::copy::copy;
use super::{Arena, rows_at};
use crate::Settings;
use crate::error::BenchError;
use crate::peer::{Peer, connect, run as execute};
use crate::report::Report;
use std::fmt::Write as _;

const NAMES: [(&str, Option<f64>); 6] =
    [("A", Some(1.5)), ("B", Some(1.5)), ("C", Some(1.5)), ("D", None), ("E", None), ("F", Some(1.5))];
const CLIENTS: [u32; 2] = [8, 64];
const FIELDS: usize = 10;

pub(super) async fn run(arena: &Arena, report: &mut Report, settings: &Settings) -> Result<(), BenchError> {
    let wanted = |name: &str, clients: u32| {
        let line = format!("YCSB {name}, {clients} connections");
        settings.wants(&line).then_some(line)
    };
    if !NAMES.iter().any(|(name, _)| CLIENTS.iter().any(|clients| wanted(name, *clients).is_some())) {
        return Ok(());
    }
    let rows = rows_at(settings.scale, 100_000);
    load(arena, rows).await?;
    arena.warm(settings, &script("C", rows), CLIENTS[0])?;
    for (name, target) in NAMES {
        for clients in CLIENTS {
            if let Some(line) = wanted(name, clients) {
                arena.script(report, settings, (&line, &script(name, rows), clients, target))?;
            }
        }
    }
    Ok(())
}

async fn load(arena: &Arena, rows: u64) -> Result<(), BenchError> {
    let fields: String = (0..FIELDS).map(|i| format!(", field{i} varchar(100)")).collect();
    for peer in [&arena.bennu as &dyn Peer, &arena.postgres] {
        let client = connect(peer).await?;
        execute(peer, &client, &format!("CREATE TABLE usertable (ycsb_key bigint PRIMARY KEY{fields})")).await?;
        copy(peer, &client, "usertable", lines(rows)).await?;
    }
    let client = connect(&arena.postgres).await?;
    execute(&arena.postgres, &client, "VACUUM ANALYZE usertable").await
}

/// Incompressible rows, the same on both sides.
fn lines(rows: u64) -> Vec<String> {
    let mut chunks = vec![String::new()];
    let mut state = 1_u64;
    for key in 1..=rows {
        if chunks.last().is_none_or(|chunk| chunk.len() > 1 << 20) {
            chunks.push(String::new());
        }
        let Some(text) = chunks.last_mut() else { continue };
        // Writing to a String cannot fail.
        let _ = write!(text, "{key}");
        for _ in 0..FIELDS {
            text.push('|');
            for _ in 0..100 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let at = usize::try_from(state >> 58).unwrap_or(0);
                text.push(char::from(
                    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
                        .get(at)
                        .copied()
                        .unwrap_or(b'A'),
                ));
            }
        }
        text.push('\n');
    }
    chunks
}

/// A script that runs `first` in `share` percent of transactions, otherwise `second`.
fn mix(share: u32, first: &str, second: &str) -> String {
    format!("\\set op random(1, 100)\n\\if :op <= {share}\n{first}\\else\n{second}\\endif\n")
}

fn script(name: &str, rows: u64) -> String {
    let value = "v".repeat(100);
    let zipf = format!("\\set z random_zipfian(1, {rows}, 1.01)\n");
    let key = format!("{zipf}\\set key permute(:z - 1, {rows}, 7) + 1\n");
    let read = "SELECT * FROM usertable WHERE ycsb_key = :key;\n";
    let update = format!("UPDATE usertable SET field0 = '{value}' WHERE ycsb_key = :key;\n");
    // Keys unique to this run, above the loaded ones, without a counter shared by clients.
    let own = "{run} * 1000000000 + :client_id * 1000000 + :n";
    let values = format!(", '{value}'").repeat(FIELDS);
    let insert = format!("\\set n :n + 1\n\\set key {own}\nINSERT INTO usertable VALUES (:key{values});\n");
    // This client's latest inserts, and before those the latest loaded rows.
    let latest = format!(
        "{zipf}\\if :z <= :n\n\\set key {own} - :z + 1\n\\else\n\\set key {rows} + :n - :z + 1\n\\endif\n{read}"
    );
    let scan =
        "\\set many random(1, 100)\nSELECT * FROM usertable WHERE ycsb_key >= :key ORDER BY ycsb_key LIMIT :many;\n";
    match name {
        "A" => format!("{key}{}", mix(50, read, &update)),
        "B" => format!("{key}{}", mix(95, read, &update)),
        "C" => format!("{key}{read}"),
        "D" => mix(95, &latest, &insert),
        "E" => mix(95, &format!("{key}{scan}"), &insert),
        _ => format!("{key}{}", mix(50, read, &format!("{read}{update}"))),
    }
}
