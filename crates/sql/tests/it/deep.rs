//! Deeply nested texts and long chains: an error or a statement, never a crash, and never slow. Test threads have 2 MB
//! of stack, as those of a server.

use crate::printed::Printed;
use crate::sql::{self, SqlError};
use std::time::{Duration, Instant};

/// Parses a text, and copies, compares and prints the tree, as users of the tree do.
fn parse(text: &str) -> Result<usize, SqlError> {
    let started = Instant::now();
    let parsed = sql::parse(text);
    assert!(started.elapsed() < Duration::from_secs(20), "{:?} for {} bytes", started.elapsed(), text.len());
    let parsed = parsed?;
    let copy = parsed.clone();
    assert!(copy == parsed);
    assert!(!Printed(&copy[0].statement).to_string().is_empty());
    assert!(!format!("{copy:?}").is_empty());
    assert_eq!(sql::placeholders(&copy[0].statement), 0);
    Ok(parsed.len())
}

fn nested(open: &str, middle: &str, close: &str, depth: usize) -> String {
    format!("SELECT {}{middle}{}", open.repeat(depth), close.repeat(depth))
}

#[test]
fn endless_nesting_is_too_deep() {
    for (open, middle, close) in [
        ("(", "1", ")"),
        ("f(", "1", ")"),
        ("(SELECT ", "1", ")"),
        ("EXISTS (SELECT ", "1", ")"),
        ("ARRAY[", "1", "]"),
        ("CASE WHEN true THEN ", "1", " END"),
        ("NOT ", "true", ""),
        ("- ", "1", ""),
        ("INTERVAL ", "'1 day'", ""),
        ("1 + (", "1", ")"),
        ("f(x) OVER (ORDER BY ", "1", ")"),
        ("CAST(", "1", " AS int)"),
        ("(((((((((( ", "1", ""),
    ] {
        for depth in [1_000, 100_000] {
            let result = parse(&nested(open, middle, close, depth));
            assert!(matches!(result, Err(SqlError::TooDeep { .. })), "{open}: {result:?}");
        }
    }
}

#[test]
fn moderate_nesting_is_read_in_no_time() {
    for (open, middle, close) in [
        ("(", "1", ")"),
        ("f(", "1", ")"),
        ("(SELECT ", "1", ")"),
        ("CASE WHEN true THEN ", "1", " END"),
        ("CASE f(", "1", ") WHEN 1 THEN 2 END"),
        ("coalesce(1, ", "1", ")"),
        ("CAST(", "1", " AS int)"),
        ("substring(", "'a'", " FROM 1)"),
        ("extract(year FROM ", "d", ")"),
        ("1 IN (", "1", ")"),
        ("1 IN (SELECT ", "1", ")"),
    ] {
        assert_eq!(parse(&nested(open, middle, close, 60)).as_ref().ok(), Some(&1), "{open}");
        let unclosed = parse(&nested(open, middle, "", 60));
        assert!(matches!(unclosed, Err(SqlError::Syntax { .. } | SqlError::TooDeep { .. })), "{open}: {unclosed:?}");
    }
}

#[test]
fn the_branches_of_a_case_stand_beside_each_other() {
    let branches: String = (0..2_000).map(|at| format!(" WHEN a = {at} AND b <> {at} THEN {at} + 1")).collect();
    assert_eq!(parse(&format!("SELECT CASE{branches} ELSE 0 END, t.end FROM t")).ok(), Some(1));
    assert!(matches!(parse(&nested("CASE WHEN t.end THEN ", "1", " END", 299)), Err(SqlError::TooDeep { .. })));
}

#[test]
fn nested_from_is_read_in_no_time() {
    for (open, close) in
        [("(SELECT * FROM ", ") AS x"), ("(t JOIN ", " ON true)"), ("LATERAL (SELECT * FROM ", ") AS x")]
    {
        let text = format!("SELECT * FROM {}t{}", open.repeat(60), close.repeat(60));
        assert_eq!(parse(&text).as_ref().ok(), Some(&1), "{open}");
        assert!(parse(&format!("SELECT * FROM {}t", open.repeat(60))).is_err());
    }
    let with = format!("{}SELECT 1{}", "WITH w AS (".repeat(60), ") SELECT 1".repeat(60));
    assert_eq!(parse(&with).unwrap(), 1);
}

#[test]
fn tables_and_queries_are_chains_too() {
    let texts = |count: usize| {
        [
            format!("SELECT a FROM t{}", ", t".repeat(count)),
            format!("SELECT a FROM t{}", " JOIN t ON true".repeat(count)),
            format!("UPDATE t SET a = 1 FROM t{}", ", t".repeat(count)),
            format!("DELETE FROM t USING t{}", ", t".repeat(count)),
            format!("WITH c AS (SELECT 1){} SELECT * FROM c", ", c AS (SELECT * FROM c)".repeat(count)),
        ]
    };
    for text in texts(151) {
        let result = parse(&text);
        assert!(matches!(result, Err(SqlError::TooDeep { .. })), "{text:.60}: {result:?}");
    }
    for text in texts(100) {
        assert_eq!(parse(&text).ok(), Some(1), "{text:.60}");
    }
    // Commas of a list are not operators.
    let list = ", a IS DISTINCT FROM b, sum(extract(year FROM c))".repeat(1_000);
    assert_eq!(parse(&format!("SELECT a{list} FROM t GROUP BY a{}", ", a".repeat(1_000))).ok(), Some(1));
}

#[test]
fn chains_end_somewhere() {
    for link in [" + 1", " || 'a'", "::int", " IS NULL", "[1]", " AT TIME ZONE 'x'", " ~ 'a'", " UNION SELECT 1"] {
        for length in [1_000, 100_000] {
            let result = parse(&format!("SELECT a{}", link.repeat(length)));
            assert!(matches!(result, Err(SqlError::TooDeep { .. })), "{link}: {result:?}");
        }
        let result = parse(&format!("SELECT a{}", link.repeat(60)));
        assert_eq!(result.as_ref().ok(), Some(&1), "{link}: {result:?}");
    }
}

#[test]
fn chains_inside_nesting_add_up() {
    let text = (0..90).fold("1".to_owned(), |inner, _| format!("({inner}) + 1 + 1 + 1 + 1"));
    assert!(matches!(parse(&format!("SELECT {text}")), Err(SqlError::TooDeep { .. })));
}

#[test]
fn thousands_of_ands_and_ors_become_a_flat_tree() {
    let or = format!("SELECT * FROM t WHERE a = 0{}", " OR a = 1 AND b = 2".repeat(5_000));
    assert_eq!(parse(&or).unwrap(), 1);
    let and = format!("DELETE FROM t WHERE a = 0{}", " AND a <> 1".repeat(15_000));
    assert_eq!(parse(&and).unwrap(), 1);
    let wrong = format!("{or} AND )");
    assert!(matches!(parse(&wrong), Err(SqlError::Syntax { .. })));
    let endless = format!("{or}{}", " OR b = 1".repeat(50_000));
    assert!(matches!(parse(&endless), Err(SqlError::TooDeep { .. })));
}

#[test]
fn balancing_keeps_operands_and_their_order() {
    let chain: Vec<String> = (0..1_000).map(|n| format!("a = {n}")).collect();
    let text = format!("SELECT * FROM t WHERE {}", chain.join(" OR "));
    assert_eq!(Printed(&crate::one(&text)).to_string(), text);
}

#[test]
fn width_costs_no_depth() {
    let list = format!("SELECT * FROM t WHERE a IN (0{})", ", 1".repeat(100_000));
    assert_eq!(parse(&list).unwrap(), 1);
    let rows = format!("INSERT INTO t VALUES (0, 'a'){}", ", (1 + 2, 'b' || 'c')".repeat(30_000));
    assert_eq!(parse(&rows).unwrap(), 1);
    let columns: Vec<String> = (0..1_600).map(|n| format!("t.c{n} * 2 + 1 AS d{n}")).collect();
    assert_eq!(parse(&format!("SELECT {} FROM t", columns.join(", "))).unwrap(), 1);
    let statements = "SELECT a FROM t WHERE k = 1;\n".repeat(20_000);
    assert_eq!(parse(&statements).unwrap(), 20_000);
}
