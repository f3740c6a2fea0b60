//! Queries with a known difference whose reason the results do not show: the beginning of the query, and the reason.

const ZEROS: &str = "-0 and 0 of a float are two values to INTERSECT ALL";
const INTERVALS: &str = "intervals of one length and other units are two values to DISTINCT";
const CHARS: &str = "IS NOT DISTINCT FROM compares a varchar with a char(n) with their blanks";

/// Unique beginnings of queries, with reasons.
const QUERIES: [(&str, &str); 3] = [
    ("SELECT (t0_0.e * ((t0_0.s + t0_0.k) % nullif(t0_0.s, 0))) AS o0, ('3.25'::float8 BETWEEN SYMMETRIC", ZEROS),
    ("SELECT DISTINCT ((date_trunc('week', t0_1.h) - (timestamp '2024-02-21 17:30:00' + interval", INTERVALS),
    ("SELECT o0, o1, grouping(o0, o1), count(*), sum(v) FROM (SELECT ((t0_0.c IS NOT DISTINCT FROM t0_1.p)", CHARS),
];

/// The reason for one of these queries, or for a kind of query.
pub(crate) fn reason(query: &str) -> Option<&'static str> {
    let of_zeros =
        query.contains("PARTITION BY round(e)") || query.contains("round(e) AS p") && query.contains("PARTITION BY p");
    if of_zeros {
        return Some("-0 and 0 of a float are two partitions of a window");
    }
    if query.contains("array_remove(ARRAY[p,") {
        return Some("array_remove() compares elements of char(n) and varchar with their blanks");
    }
    QUERIES.iter().find(|(start, _)| query.starts_with(start)).map(|(_, reason)| *reason)
}
