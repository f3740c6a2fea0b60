//! Queries whose rows are compared in order, each with a total ORDER BY; and numbers of mixed types and near the limits
//! of their types.

use crate::random::Random;

/// Marks a query with ordered rows.
pub(crate) const MARK: &str = "/* in order */ ";

/// A query of one of these shapes.
pub(crate) fn query(random: &mut Random) -> String {
    match random.below(8) {
        0..3 => windows_over_groups(random),
        3 => hidden_by_outputs(random),
        4 => ordered_expressions(random),
        5 => large_sums(random),
        _ => mixed_numbers(random),
    }
}

const DIRECTIONS: [&str; 4] = ["", " DESC", " NULLS FIRST", " DESC NULLS LAST"];

/// ORDER BY of the columns in random order and directions.
fn by(random: &mut Random, columns: &[&str]) -> String {
    let mut rest = columns.to_vec();
    let mut keys = Vec::new();
    while !rest.is_empty() {
        let column = rest.swap_remove(random.below(rest.len()));
        keys.push(format!("{column}{}", random.of(&DIRECTIONS)));
    }
    keys.join(", ")
}

/// Ranks, counts and sums over groups, which come first in ORDER BY.
fn windows_over_groups(random: &mut Random) -> String {
    let groups = ["a % 4", "c", "s / 7", "b % 3", "f", "p", "g", "k % 5"];
    let (one, two) = (random.of(&groups), random.of(&groups));
    let measure = random.of(&["count(*)", "sum(a)", "max(d)", "count(DISTINCT c)", "min(g)", "sum(k) / 50"]);
    // These give peers the same value, and the other calls are ordered by a unique key.
    let call = match random.below(9) {
        0 => format!("rank() OVER (ORDER BY m{})", random.of(&DIRECTIONS)),
        1 => format!("dense_rank() OVER (ORDER BY m{})", random.of(&DIRECTIONS)),
        2 => format!("count(*) OVER (ORDER BY m{})", random.of(&DIRECTIONS)),
        3 => format!("max(m) OVER (ORDER BY m{})", random.of(&DIRECTIONS)),
        4 => "rank() OVER (PARTITION BY x ORDER BY m)".to_owned(),
        5 => format!("row_number() OVER (ORDER BY {}) / 3", by(random, &["m", "x", "y"])),
        6 => format!("ntile(3) OVER (ORDER BY {})", by(random, &["m", "x", "y"])),
        7 => format!("lag(m) OVER (ORDER BY {})", by(random, &["m", "x", "y"])),
        _ => "count(m) OVER (PARTITION BY m)".to_owned(),
    };
    let inner = format!("SELECT {one} AS x, {two} AS y, {measure} AS m FROM t GROUP BY 1, 2");
    let order = format!("r{}, {}", random.of(&DIRECTIONS), by(random, &["x", "y"]));
    let limit = if random.once_in(3) { format!(" LIMIT {}", random.below(9) + 1) } else { String::new() };
    let shown = random.of(&["r, x, y", "x, r, y", "y, x, r", "x, y, m, r"]);
    if random.once_in(2) {
        format!(
            "{MARK}SELECT {shown} FROM (SELECT {call} AS r, x, y, m FROM ({inner}) AS q) AS w ORDER BY {order}{limit}"
        )
    } else {
        format!("{MARK}SELECT {call} AS r, x, y FROM ({inner}) AS q ORDER BY {order}{limit}")
    }
}

/// ORDER BY of input columns that output columns of the same name hide.
fn hidden_by_outputs(random: &mut Random) -> String {
    let item = random.of(&[
        "v.a::text AS a",
        "-v.a AS a",
        "v.d AS a",
        "v.a % 3 AS a",
        "v.b AS a",
        "upper(v.c) AS a",
        "v.a::text",
        "v.c AS k",
    ]);
    let key = random.of(&["v.a", "v.a DESC", "v.a % 2, v.a", "abs(v.a), v.a", "v.c, v.a", "v.a + v.k", "-v.a"]);
    let source = random.of(&[
        "t AS v",
        "(SELECT * FROM t) AS v",
        "(SELECT k, a, b, c, d FROM t UNION ALL SELECT k + 100, a, b, c, d FROM t) AS v",
    ]);
    format!("{MARK}SELECT {item}, v.k AS number FROM {source} ORDER BY {key}, v.k")
}

fn ordered_expressions(random: &mut Random) -> String {
    let keys = [
        "a % 3",
        "coalesce(c, 'm')",
        "d * 2",
        "length(c)",
        "b IS NULL",
        "CASE WHEN f THEN a ELSE -a END",
        "g - date '2024-01-01'",
        "e / 4",
        "s + a",
        "c || p",
        "nullif(a, 3)",
        "extract(month FROM h)",
    ];
    let (one, two) = (random.of(&keys), random.of(&keys));
    let (first, second) = (random.of(&DIRECTIONS), random.of(&DIRECTIONS));
    let distinct = if random.once_in(3) { format!("DISTINCT ON ({one}) ") } else { String::new() };
    format!("{MARK}SELECT {distinct}k, a FROM t ORDER BY {one}{first}, {two}{second}, k LIMIT {}", random.below(40) + 1)
}

/// Sums and averages near the limits of their argument types.
fn large_sums(random: &mut Random) -> String {
    let (ty, values): (&str, &[&str]) = match random.below(3) {
        0 => ("bigint", &["9223372036854775807", "-9223372036854775808", "9223372036854775806", "-1", "1", "NULL"]),
        1 => ("integer", &["2147483647", "-2147483648", "2147483646", "-1", "1", "NULL"]),
        _ => ("smallint", &["32767", "-32768", "32766", "-1", "1", "NULL"]),
    };
    let rows: Vec<String> = (0..=random.below(6)).map(|i| format!("({i}, ({})::{ty})", random.of(values))).collect();
    let over = random.of(&[
        "OVER ()",
        "OVER (ORDER BY i)",
        "OVER (ORDER BY i ROWS 1 PRECEDING)",
        "OVER (PARTITION BY i % 2)",
        "OVER (ORDER BY i ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
    ]);
    let call = random.of(&["sum(x)", "avg(x)", "max(x)", "count(x)", "sum(x + 0)", "sum(x) FILTER (WHERE x > 0)"]);
    let rows = rows.join(", ");
    if random.once_in(2) {
        format!("{MARK}SELECT i, {call} {over}, pg_typeof({call} {over}) FROM (VALUES {rows}) AS v (i, x) ORDER BY i")
    } else {
        format!(
            "{MARK}SELECT i % 2 AS g, {call}, pg_typeof({call}) FROM (VALUES {rows}) AS v (i, x) GROUP BY 1 ORDER BY 1"
        )
    }
}

/// Numbers of several types where a common type is needed.
fn mixed_numbers(random: &mut Random) -> String {
    let numbers = [
        "a",
        "b",
        "s",
        "d",
        "e",
        "e::real",
        "1",
        "2.5",
        "3000000000",
        "NULL",
        "'7'",
        "0.25::real",
        "1.5::float8",
        "2::smallint",
        "k",
        "d::numeric(12,3)",
    ];
    let mut number = || random.of(&numbers);
    let (x, y, z) = (number(), number(), number());
    let value = match random.below(8) {
        0 => format!("coalesce({x}, {y}, {z})"),
        1 => format!("CASE WHEN k % 3 = 0 THEN {x} WHEN k % 3 = 1 THEN {y} ELSE {z} END"),
        2 => format!("greatest({x}, {y}, {z})"),
        3 => format!("least({x}, {y})"),
        4 => format!("nullif({x}, {y})"),
        5 => format!("(ARRAY[{x}, {y}, {z}])[2]"),
        6 => format!("{x} IN ({y}, {z})"),
        _ => {
            let operator = random.of(&["UNION", "UNION ALL"]);
            let sides = [x, y, z].map(|side| format!("SELECT {side} AS v FROM t"));
            let sides = sides.join(&format!(" {operator} "));
            return format!("SELECT pg_typeof(v), v FROM ({sides}) AS q");
        }
    };
    format!("SELECT k, pg_typeof({value}), {value} FROM t")
}
