//! Queries that are answered differently for a reason which their answers do not show: how each begins, and the reason.

const ZEROS: &str = "-0 and 0 of a float are two values to INTERSECT ALL";
const NO_PRECISION: &str = "the text of a numeric without precision has no zeros at its end";
const INTERVALS: &str = "intervals of one length and other units are two values to DISTINCT";
const CHARS: &str = "IS NOT DISTINCT FROM compares a varchar with a char(n) with their blanks";
const ROLLUP: &str =
    "rows are not sorted by a constant that ROLLUP makes NULL, in PostgreSQL 15 neither, and LIMIT cuts other ones";

/// Each begins as no other query does.
const QUERIES: [(&str, &str); 8] = [
    ("SELECT (t0_0.e * ((t0_0.s + t0_0.k) % nullif(t0_0.s, 0))) AS o0, ('3.25'::float8 BETWEEN SYMMETRIC", ZEROS),
    ("SELECT ((abs(t0_1.d))::text || (t0_1.a + (SELECT max(abs(t14_0.b)) FROM t AS t14_0", NO_PRECISION),
    ("SELECT DISTINCT ((date_trunc('week', t0_1.h) - (timestamp '2024-02-21 17:30:00' + interval", INTERVALS),
    ("SELECT o0, o1, grouping(o0, o1), count(*), sum(v) FROM (SELECT ((t0_0.c IS NOT DISTINCT FROM t0_1.p)", CHARS),
    ("SELECT nullif(left(n0_0.y, 1), nullif(n0_0.y, n0_0.y)), ((date '2024-05-24' + time '04:05')", ROLLUP),
    (
        "SELECT interval '1 minutes', count(*) FROM t AS t0_0 RIGHT JOIN n AS n0_1 ON t0_0.k = n0_1.x WHERE n0_1.q",
        ROLLUP,
    ),
    ("SELECT round(abs(26.25))::integer, min(date '2024-09-07'), sum((22 % nullif(coalesce(-3, n0_0.x), 0)))", ROLLUP),
    ("SELECT make_date(2024, 12, 23), round(avg(nullif((13 - 25), round(t0_0.d)::integer)), 4) FROM t", ROLLUP),
];

/// The reason for one of them, or for a kind of query.
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
