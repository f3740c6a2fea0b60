//! Further shapes of queries: LATERAL, USING, DISTINCT ON, grouping sets, frames, recursion, nested set operations.

use crate::expr::{Kind, Scope, expr};
use crate::generate::{cut, filter, from, items, kind, kinds};
use crate::random::Random;

/// A query of one of these shapes.
pub(crate) fn query(random: &mut Random) -> String {
    match random.below(11) {
        0 => lateral(random),
        1 | 2 => using(random),
        3 => distinct_on(random),
        4 => grouping_sets(random),
        5 | 6 => frames(random),
        7 => recursive(random),
        8 => nested_sets(random),
        9 => ordered_aggregates(random),
        _ => quantified(random),
    }
}

fn columns_of(prefix: &str, kinds: &[Kind]) -> Vec<(String, Kind)> {
    kinds.iter().enumerate().map(|(i, kind)| (format!("{prefix}o{i}"), *kind)).collect()
}

fn lateral(random: &mut Random) -> String {
    let (outer, scope) = from(random, &Scope::default(), 0);
    let inner_kinds = kinds(random);
    let (inner, inner_scope) = from(random, &scope, 0);
    let list = items(random, &inner_scope, &inner_kinds);
    let condition = filter(random, &inner_scope);
    let limit = if random.once_in(2) {
        let order: Vec<String> = (1..=inner_kinds.len()).map(|i| i.to_string()).collect();
        format!(" ORDER BY {} LIMIT {}", order.join(", "), random.below(3) + 1)
    } else {
        String::new()
    };
    let join = random.of(&["CROSS JOIN LATERAL", "LEFT JOIN LATERAL"]);
    let on = if join.starts_with("LEFT") { " ON true" } else { "" };
    let mut both = scope.clone();
    both.columns.extend(columns_of("l.", &inner_kinds));
    let wanted = [kind(random), kind(random)];
    let shown = items(random, &both, &wanted);
    // A join binds tighter than a comma, so the outer side is in parentheses.
    format!("SELECT {shown} FROM ({outer}) {join} (SELECT {list} FROM {inner}{condition}{limit}) AS l{on}")
        .replace("FROM (t AS t0_0) ", "FROM t AS t0_0 ")
        .replace("FROM (u AS u0_0) ", "FROM u AS u0_0 ")
        .replace("FROM (n AS n0_0) ", "FROM n AS n0_0 ")
}

fn using(random: &mut Random) -> String {
    let join = random.of(&["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"]);
    let columns = [("x", Kind::Int), ("b", Kind::Int), ("y", Kind::Text), ("q", Kind::Bool), ("d", Kind::Numeric)];
    let scope = Scope { columns: columns.map(|(name, kind)| (name.to_owned(), kind)).to_vec(), queries: 0 };
    let wanted = kinds(random);
    let shown = if random.once_in(4) { "*".to_owned() } else { items(random, &scope, &wanted) };
    let two = random.once_in(2);
    let (left, key) = if two { ("a AS x, c AS y", "x, y") } else { ("a AS x", "x") };
    let right = if two { "n" } else { "(SELECT x, max(y) AS y, bool_or(q) AS q FROM n GROUP BY x) AS n" };
    let filter = filter(random, &scope);
    format!("SELECT {shown} FROM (SELECT {left}, b, d FROM t) AS l {join} {right} USING ({key}){filter}")
}

fn distinct_on(random: &mut Random) -> String {
    let (from, scope) = from(random, &Scope::default(), 0);
    let kinds = [kind(random), kind(random), kind(random)];
    let list = items(random, &scope, &kinds);
    let direction = random.of(&["", " DESC"]);
    format!(
        "SELECT DISTINCT ON (o0) * FROM (SELECT {list} FROM {from}{}) AS w ORDER BY o0{direction}, o1, o2",
        filter(random, &scope)
    )
}

fn grouping_sets(random: &mut Random) -> String {
    let (from, scope) = from(random, &Scope::default(), 0);
    let kinds = [kind(random), kind(random)];
    let (a, b) = (expr(kinds[0], 2, &scope, random), expr(kinds[1], 2, &scope, random));
    let group = random.of(&[
        "CUBE (o0, o1)",
        "GROUPING SETS ((o0), (o1), ())",
        "GROUPING SETS ((o0, o1), (o1))",
        "o0, ROLLUP (o1)",
        "ROLLUP (o0), CUBE (o1)",
    ]);
    let value = expr(Kind::Int, 1, &scope, random);
    format!(
        "SELECT o0, o1, grouping(o0, o1), count(*), sum(v) FROM (SELECT {a} AS o0, {b} AS o1, {value} AS v FROM {from}{}) AS w GROUP BY {group}",
        filter(random, &scope)
    )
}

fn frames(random: &mut Random) -> String {
    let columns = crate::data::TABLES[0].columns.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect();
    let scope = Scope { columns, queries: 0 };
    let value = expr(Kind::Int, 1, &scope, random);
    let call = random.of(&[
        "sum(v)",
        "count(*)",
        "min(v)",
        "max(v)",
        "first_value(v)",
        "last_value(v)",
        "nth_value(v, 2)",
        "count(v)",
    ]);
    let bounds = random.of(&[
        "BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
        "BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
        "BETWEEN 1 PRECEDING AND 2 FOLLOWING",
        "BETWEEN 3 PRECEDING AND 1 PRECEDING",
        "BETWEEN 1 FOLLOWING AND 2 FOLLOWING",
        "UNBOUNDED PRECEDING",
    ]);
    let mode = random.of(&["ROWS", "RANGE", "GROUPS"]);
    let partition = if random.once_in(2) { "PARTITION BY p " } else { "" };
    let direction = random.of(&["", " DESC"]);
    let part = expr(kind(random), 1, &scope, random);
    let inner = format!("SELECT k, {part} AS p, {value} AS v FROM t");
    match random.below(3) {
        0 => format!(
            "SELECT k, {call} OVER w, row_number() OVER w FROM ({inner}) AS i WINDOW w AS ({partition}ORDER BY k{direction} {mode} {bounds})"
        ),
        1 => format!(
            "SELECT k, {call} OVER (w ORDER BY k{direction} {mode} {bounds}) FROM ({inner}) AS i WINDOW w AS ({partition})"
        ),
        // Equal values are peers.
        _ => format!(
            "SELECT k, sum(v) OVER ({partition}ORDER BY v{direction} {}), rank() OVER ({partition}ORDER BY v), dense_rank() OVER (ORDER BY v), percent_rank() OVER (ORDER BY v), cume_dist() OVER (ORDER BY v) FROM ({inner}) AS i",
            if bounds.contains('1') || bounds.contains('3') { "" } else { "RANGE UNBOUNDED PRECEDING" }
        ),
    }
}

fn recursive(random: &mut Random) -> String {
    let union = random.of(&["UNION", "UNION ALL"]);
    let step = random.below(3) + 1;
    match random.below(3) {
        0 => format!(
            "WITH RECURSIVE r (i, s) AS (SELECT 1, 'a'::text {union} SELECT i + {step}, s || i::text FROM r WHERE i < 9) SELECT * FROM r"
        ),
        1 => format!(
            "WITH RECURSIVE r AS (SELECT k, a, 0 AS level FROM t WHERE k < 3 {union} SELECT t.k, t.a, level + 1 FROM t JOIN r ON t.k = r.a WHERE level < {step}) SELECT level, count(*), sum(k) FROM r GROUP BY level"
        ),
        _ => format!(
            "WITH RECURSIVE d AS (SELECT min(g) AS g FROM t UNION ALL SELECT g + {step} FROM d WHERE g < date '2024-02-01'), w AS (SELECT k, g FROM t) SELECT d.g, count(w.k) FROM d LEFT JOIN w USING (g) GROUP BY d.g"
        ),
    }
}

fn nested_sets(random: &mut Random) -> String {
    let kinds = kinds(random);
    let mut side = || {
        let (from, scope) = from(random, &Scope::default(), 0);
        let text = format!("SELECT {} FROM {from}{}", items(random, &scope, &kinds), filter(random, &scope));
        if random.once_in(4) { format!("({text}{})", cut(random, kinds.len())) } else { text }
    };
    let (a, b, c) = (side(), side(), side());
    let mut operator = || random.of(&["UNION", "UNION ALL", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL"]);
    let (x, y) = (operator(), operator());
    match random.below(3) {
        0 => format!("{a} {x} {b} {y} {c}"),
        1 => format!("{a} {x} ({b} {y} {c})"),
        _ => format!("SELECT count(*) FROM ({a} {x} {b} {y} {c}) AS w"),
    }
}

fn ordered_aggregates(random: &mut Random) -> String {
    let (from, scope) = from(random, &Scope::default(), 0);
    let kinds = [kind(random), Kind::Int, Kind::Text, kind(random)];
    let list = items(random, &scope, &kinds);
    let call = random.of(&[
        "string_agg(o2, ',' ORDER BY o2)",
        "string_agg(DISTINCT o2, ',')",
        "array_agg(o1 ORDER BY o1 DESC NULLS LAST)",
        "array_agg(DISTINCT o3)",
        "count(DISTINCT o3)",
        "min(o3), max(o1)",
        "round(stddev(o1), 4)",
        "round(var_pop(o1), 4)",
        "percentile_disc(0.5) WITHIN GROUP (ORDER BY o1)",
        "percentile_cont(0.5) WITHIN GROUP (ORDER BY o1)",
        "bool_and(o1 > 3), every(o1 < 5)",
        "sum(DISTINCT o1) FILTER (WHERE o1 > 0)",
        "avg(o1)",
    ]);
    format!("SELECT o0, {call} FROM (SELECT {list} FROM {from}{}) AS w GROUP BY o0", filter(random, &scope))
}

fn quantified(random: &mut Random) -> String {
    let (outer, mut scope) = from(random, &Scope::default(), 1);
    scope.queries = 1;
    let (inner, inner_scope) = from(random, &scope, 0);
    let own = Scope { columns: inner_scope.columns[scope.columns.len()..].to_vec(), queries: 0 };
    let kinds = [kind(random), kind(random)];
    let left: Vec<String> = kinds.iter().map(|kind| expr(*kind, 1, &scope, random)).collect();
    let right: Vec<String> = kinds.iter().map(|kind| expr(*kind, 1, &own, random)).collect();
    let condition = expr(Kind::Bool, 1, &inner_scope, random);
    let not = random.of(&["", "NOT "]);
    let operator = random.of(&["=", "<>", "<", ">="]);
    let test = match random.below(4) {
        0 => format!(
            "({}, {}) {not}IN (SELECT {}, {} FROM {inner} WHERE {condition})",
            left[0], left[1], right[0], right[1]
        ),
        1 => format!("{} {operator} ANY (SELECT {} FROM {inner} WHERE {condition})", left[0], right[0]),
        2 => format!("{} {operator} ALL (SELECT {} FROM {inner} WHERE {condition})", left[0], right[0]),
        _ => format!("cardinality(ARRAY(SELECT {} FROM {inner} WHERE {condition})) > 1", right[0]),
    };
    let wanted = [kind(random)];
    let shown = items(random, &scope, &wanted);
    if random.once_in(2) {
        format!("SELECT {shown} FROM {outer} WHERE {test}")
    } else {
        format!("SELECT {shown}, {test} FROM {outer}")
    }
}
