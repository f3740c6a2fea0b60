//! Trees of statements as text: `tests/trees/*.txt` has statements, each followed by its tree.

use crate::support::Tables;
use std::path::Path;

const SCHEMA: &str = "
    CREATE TABLE t (k int PRIMARY KEY, a int, b text, n numeric(10, 2), d date);
    CREATE TABLE u (k int, j bigint, v varchar(10), x text, PRIMARY KEY (k, j));
    CREATE TABLE r (a int, b text)";

fn check(file: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trees").join(file);
    let tables = Tables::of(SCHEMA);
    let text = std::fs::read_to_string(&path).unwrap();
    let mut shown = String::new();
    for block in text.split("\n\n").map(str::trim).filter(|block| !block.is_empty()) {
        let statement = block.lines().next().unwrap();
        shown.push_str(&format!("{statement}\n{}\n", tables.tree(statement)));
    }
    let shown = format!("{}\n", shown.trim_end());
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &shown).unwrap();
    }
    assert_eq!(shown, text, "{file}: set BLESS=1 to record the trees anew");
}

#[test]
fn key_reads_become_scans_with_filters() {
    check("key_reads.txt");
}

#[test]
fn joins_and_derived_tables_keep_their_columns_apart() {
    check("from.txt");
}

#[test]
fn groups_are_projected_before_and_after() {
    check("grouping.txt");
}

#[test]
fn expressions_have_casts_where_types_differ() {
    check("expressions.txt");
}

#[test]
fn subqueries_know_what_they_read_from_outside() {
    check("subqueries.txt");
}
