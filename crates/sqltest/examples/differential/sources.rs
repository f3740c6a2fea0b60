//! FROM items other than tables: VALUES, functions with and without ORDINALITY, NATURAL joins; and ordered set
//! operations.

use crate::casts::fitting;
use crate::expr::{Kind, Scope, expr};
use crate::generate::{items, kind, kinds};
use crate::ordered::MARK;
use crate::random::Random;

/// A query over such a FROM item.
pub(crate) fn query(random: &mut Random) -> String {
    match random.below(8) {
        0 => values(random),
        1 | 2 => functions(random),
        3 => functions_of_rows(random),
        4 => natural(random),
        5 => full_using(random),
        6 => ordered_sets(random),
        _ => chained_with(random),
    }
}

fn values(random: &mut Random) -> String {
    let kinds = [kind(random), kind(random)];
    let none = Scope::default();
    let rows: Vec<String> = (0..=random.below(4))
        .map(|_| {
            let cell = |random: &mut Random, kind| {
                if random.once_in(4) { "NULL".to_owned() } else { expr(kind, 1, &none, random) }
            };
            format!("({}, {})", cell(random, kinds[0]), cell(random, kinds[1]))
        })
        .collect();
    let scope = Scope { columns: vec![("x".to_owned(), kinds[0]), ("y".to_owned(), kinds[1])], queries: 0 };
    let rows = rows.join(", ");
    match random.below(4) {
        0 => format!("VALUES {rows}"),
        1 => format!("VALUES {rows} ORDER BY 1, 2 LIMIT 3"),
        2 => format!("SELECT y, x FROM (VALUES {rows}) AS v (x, y)"),
        _ => {
            let wanted = [kind(random), kind(random)];
            format!("SELECT {} FROM (VALUES {rows}) AS v (x, y)", items(random, &scope, &wanted))
        }
    }
}

const CALLS: [&str; 20] = [
    "generate_series(1, 5)",
    "generate_series(5, 1, -2)",
    "generate_series(1, 0)",
    "generate_series(0, 2, 0.5)",
    "generate_series(3, NULL)",
    "generate_series(1::bigint, 3)",
    "generate_series(date '2024-01-30', date '2024-03-02', interval '1 month')",
    "generate_series(timestamp '2024-01-01', timestamp '2024-01-02', interval '7 hours')",
    "generate_series(timestamp '2024-01-02', timestamp '2024-01-01', interval '-9 hours')",
    "unnest(ARRAY[1, NULL, 3])",
    "unnest(ARRAY['a', 'b', NULL])",
    "unnest(ARRAY[1.5, 2.25])",
    "unnest('{}'::integer[])",
    "unnest(ARRAY[[1, 2], [3, 4]])",
    "string_to_table('a,b,,c', ',')",
    "string_to_table('abc', NULL)",
    "regexp_split_to_table('one  two', '\\s')",
    "generate_subscripts(ARRAY[7, 8, 9], 1)",
    "regexp_matches('foobar', '(o)(b)?', 'g')",
    "unnest(string_to_array('x y z', ' '))",
];

fn functions(random: &mut Random) -> String {
    let (one, two) = (random.of(&CALLS), random.of(&CALLS));
    match random.below(8) {
        0 => format!("{MARK}SELECT * FROM {one} WITH ORDINALITY"),
        1 => format!("{MARK}SELECT v, i FROM {one} WITH ORDINALITY AS q (v, i) WHERE i <> 2 ORDER BY i DESC"),
        2 => format!("SELECT {one}, {two}"),
        3 => format!("SELECT count(*), max(i) FROM {one} WITH ORDINALITY AS q (v, i)"),
        4 => format!("SELECT * FROM {one} AS a, {two} AS b"),
        5 => format!(
            "SELECT a, b FROM {one} WITH ORDINALITY AS p (a, i) FULL JOIN {two} WITH ORDINALITY AS q (b, i) USING (i)"
        ),
        6 => format!("SELECT v, pg_typeof(v) FROM {one} AS v"),
        _ => format!("{MARK}SELECT array_agg(v ORDER BY i DESC), count(v) FROM {one} WITH ORDINALITY AS q (v, i)"),
    }
}

/// Set-returning functions with columns as arguments.
fn functions_of_rows(random: &mut Random) -> String {
    let call = random.of(&[
        "generate_series(1, a)",
        "generate_series(a, s)",
        "unnest(ARRAY[a, s, NULL])",
        "unnest(ARRAY[c, p::text])",
        "string_to_table(c, ' ')",
        "generate_series(g, g + 3, interval '1 day')",
        "generate_series(k, k + 2)",
    ]);
    match random.below(5) {
        0 => format!("SELECT k, v FROM t, {call} AS v"),
        1 => format!("SELECT k, v, i FROM t LEFT JOIN LATERAL {call} WITH ORDINALITY AS q (v, i) ON i < 3"),
        2 => format!("SELECT k, {call} FROM t"),
        3 => format!("SELECT v, count(*) FROM t CROSS JOIN {call} AS v GROUP BY v"),
        _ => format!("SELECT k, (SELECT count(v) FROM {call} AS v), ARRAY(SELECT v FROM {call} AS v) FROM t"),
    }
}

fn natural(random: &mut Random) -> String {
    let join = random.of(&["NATURAL JOIN", "NATURAL LEFT JOIN", "NATURAL RIGHT JOIN", "NATURAL FULL JOIN"]);
    let left =
        random.of(&["SELECT a AS x, c AS y, k FROM t", "SELECT a AS x, k FROM t", "SELECT k FROM t WHERE a > 3"]);
    let right = random.of(&["SELECT * FROM n", "SELECT y, count(*) AS m FROM n GROUP BY y", "SELECT x, q FROM n"]);
    let shown = random.of(&["*", "l.*", "r.*", "count(*)", "k, r.*, l.*"]);
    format!("SELECT {shown} FROM ({left}) AS l {join} ({right}) AS r")
}

fn full_using(random: &mut Random) -> String {
    let columns = [("x", Kind::Int), ("k", Kind::Int), ("v", Kind::Int), ("y", Kind::Text)];
    let scope = Scope { columns: columns.map(|(name, kind)| (name.to_owned(), kind)).to_vec(), queries: 0 };
    let shown = match random.below(4) {
        0 => "*".to_owned(),
        1 => "x, l.x, r.x, w.x".to_owned(),
        _ => {
            let wanted = kinds(random);
            items(random, &scope, &wanted)
        }
    };
    let mut join = || random.of(&["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"]);
    let (one, two) = (join(), join());
    let condition = expr(Kind::Bool, 2, &scope, random);
    format!(
        "SELECT {shown} FROM (SELECT a AS x, k FROM t) AS l {one} (SELECT x, y FROM n) AS r USING (x) {two} (SELECT k2 AS x, v FROM u) AS w USING (x) WHERE {condition}"
    )
}

fn ordered_sets(random: &mut Random) -> String {
    let mut operator = || random.of(&["UNION", "UNION ALL", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL"]);
    let (one, two) = (operator(), operator());
    let key = random.of(&["x", "y", "1", "2 DESC", "x DESC NULLS LAST", "y NULLS FIRST"]);
    let rest = if key.starts_with(['x', '1']) { "y" } else { "x" };
    let sides =
        ["SELECT a AS x, c AS y FROM t", "SELECT x, y FROM n", "SELECT k2, c1 FROM u", "VALUES (1, 'a'), (2, NULL)"];
    let (a, b, c) = (random.of(&sides), random.of(&sides), random.of(&sides));
    let a = if a.starts_with("SELECT k2") || a.starts_with("VALUES") { sides[0] } else { a };
    let limit = random.of(&["", " LIMIT 7", " OFFSET 3", " LIMIT 4 OFFSET 2", " FETCH FIRST 3 ROWS WITH TIES"]);
    // varchar and text are equivalent here, and equal rows print the same.
    format!("{MARK}{a} {one} {b} {two} {c} ORDER BY {key}, {rest}{limit}")
}

/// CTEs that refer to earlier ones.
fn chained_with(random: &mut Random) -> String {
    let (x, y) = (fitting(random), fitting(random));
    match random.below(4) {
        0 => format!("WITH a AS (SELECT {x} AS v), b AS (SELECT v, {y} AS w FROM a) SELECT pg_typeof(v), pg_typeof(w), v, w FROM b"),
        1 => format!("WITH a (p, q) AS MATERIALIZED (SELECT k, a FROM t), b AS (SELECT p + 1 AS p FROM a WHERE q IS NOT NULL) SELECT p, {x} FROM a JOIN b USING (p)"),
        2 => "WITH a AS (SELECT k, a FROM t), b AS (SELECT a.k FROM a WHERE a.a > (SELECT avg(a) FROM a)) SELECT (SELECT count(*) FROM b), (SELECT sum(k) FROM a WHERE k IN (SELECT k FROM b))".to_owned(),
        _ => format!("SELECT (WITH a AS (SELECT t.k + 1 AS v) SELECT v FROM a), CASE WHEN k = 3 THEN {x} END FROM t"),
    }
}
