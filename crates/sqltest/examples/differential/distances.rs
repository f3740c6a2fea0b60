//! Window frames with offsets, and calls that depend on a frame.

use crate::expr::{Kind, Scope, expr};
use crate::random::Random;

/// A call over a frame with offsets.
pub(crate) fn query(random: &mut Random) -> String {
    let columns = crate::data::TABLES[0].columns.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect();
    let scope = Scope { columns, queries: 0 };
    // The ORDER BY expression and the offsets of the frame.
    let (key, distances): (&str, &[&str]) = match random.below(8) {
        0 => ("a", &["0", "2", "5"]),
        1 => ("b", &["1", "3000000000"]),
        2 => ("s", &["1", "4"]),
        3 => ("d", &["0.25", "3", "10.5"]),
        4 => ("e", &["0.5", "2", "'1'"]),
        5 => ("g", &["interval '3 days'", "interval '1 month'", "'10 days'"]),
        6 => ("h", &["interval '12 hours'", "interval '1 month 2 days'", "'36:00'"]),
        _ => ("h - timestamp '2024-01-01'", &["interval '1 day'", "interval '100 hours'"]),
    };
    let mode = random.of(&["RANGE", "RANGE", "RANGE", "GROUPS", "ROWS"]);
    let distance = |random: &mut Random| match mode {
        "RANGE" => random.of(distances),
        _ => random.of(&["0", "1", "3", "50"]),
    };
    let (near, far) = (distance(random), distance(random));
    let bounds = match random.below(7) {
        0 => format!("BETWEEN {near} PRECEDING AND {far} FOLLOWING"),
        1 => format!("BETWEEN {near} PRECEDING AND CURRENT ROW"),
        2 => format!("BETWEEN CURRENT ROW AND {far} FOLLOWING"),
        3 => format!("BETWEEN {near} PRECEDING AND {far} PRECEDING"),
        4 => format!("BETWEEN {near} FOLLOWING AND {far} FOLLOWING"),
        5 => format!("BETWEEN UNBOUNDED PRECEDING AND {far} PRECEDING"),
        _ => format!("BETWEEN {near} FOLLOWING AND UNBOUNDED FOLLOWING"),
    };
    let value = expr(Kind::Int, 1, &scope, random);
    // The order of peers is unspecified: these calls do not depend on it.
    let call = match random.below(9) {
        0 => "count(*)".to_owned(),
        1 => format!("sum({value})"),
        2 => format!("min({value})"),
        3 => format!("max({value})"),
        4 => format!("avg({value})"),
        5 => format!("count({value}) FILTER (WHERE f)"),
        6 => format!("first_value({key})"),
        7 => format!("last_value({key})"),
        _ => format!("bool_or({value} > 3)"),
    };
    let last = if mode == "ROWS" { ", k" } else { "" };
    let direction = random.of(&["", " DESC", " NULLS FIRST", " DESC NULLS LAST"]);
    let partition = random.of(&["", "PARTITION BY f ", "PARTITION BY k % 3 ", "PARTITION BY c "]);
    format!("SELECT k, {call} OVER ({partition}ORDER BY {key}{direction}{last} {mode} {bounds}) FROM t")
}
