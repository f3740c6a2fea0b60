//! Subqueries in every clause of a query, mostly correlated.

use crate::expr::{Kind, Scope, expr};
use crate::generate::{filter, from, items, kind, kinds, predicate_subquery, scalar_subquery};
use crate::ordered::MARK;
use crate::random::Random;

/// A query with subqueries in one clause.
pub(crate) fn query(random: &mut Random) -> String {
    match random.below(9) {
        0 => in_order_by(random),
        1 => in_having(random),
        2 => in_join(random),
        3 => in_case(random),
        4 => in_groups(random),
        5 => in_limit(random),
        6 => two_levels(random),
        7 => in_aggregates(random),
        _ => of_rows(random),
    }
}

fn scope_of_t() -> Scope {
    let columns = crate::data::TABLES[0].columns.iter().map(|(name, kind)| (format!("t.{name}"), *kind)).collect();
    Scope { columns, queries: 1 }
}

fn in_order_by(random: &mut Random) -> String {
    let scope = scope_of_t();
    let key = kind(random);
    let subquery =
        if random.once_in(3) { predicate_subquery(key, &scope, random) } else { scalar_subquery(key, &scope, random) };
    let direction = random.of(&["", " DESC", " NULLS FIRST", " DESC NULLS LAST"]);
    format!("{MARK}SELECT k FROM t ORDER BY {subquery}{direction}, k LIMIT {}", random.below(30) + 1)
}

fn in_having(random: &mut Random) -> String {
    let group = random.of(&["a % 4", "c", "f", "s / 7"]);
    let (inner, scope) = from(random, &Scope::default(), 0);
    let condition = expr(Kind::Bool, 1, &scope, random);
    let value = expr(Kind::Int, 1, &scope, random);
    let having = match random.below(3) {
        0 => format!("count(*) > (SELECT count(*) / 9 FROM {inner} WHERE {condition})"),
        1 => format!("max(k) IN (SELECT {value} FROM {inner} WHERE {condition})"),
        _ => format!("min(t.a) < ALL (SELECT {value} FROM {inner} WHERE {value} IS NOT NULL AND {condition})"),
    };
    format!("SELECT {group}, count(*) FROM t GROUP BY {group} HAVING {having}")
}

fn in_join(random: &mut Random) -> String {
    let join = random.of(&["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"]);
    let mut scope = scope_of_t();
    scope.columns.extend(crate::data::TABLES[2].columns.iter().map(|(name, kind)| (format!("n.{name}"), *kind)));
    let key = kind(random);
    let test = match random.below(3) {
        0 => predicate_subquery(key, &scope, random),
        1 => format!("{} > 2", scalar_subquery(Kind::Int, &scope, random)),
        _ => expr(Kind::Bool, 2, &scope, random),
    };
    let on = if join == "FULL JOIN" { "t.a = n.x".to_owned() } else { format!("t.a = n.x AND {test}") };
    let shown = if random.once_in(2) { "t.k, n.x, n.y".to_owned() } else { items(random, &scope, &[Kind::Int]) };
    let filter = if join == "FULL JOIN" { format!(" WHERE {test}") } else { String::new() };
    format!("SELECT {shown} FROM t {join} n ON {on}{filter}")
}

fn in_case(random: &mut Random) -> String {
    let scope = scope_of_t();
    let (key, result) = (kind(random), kind(random));
    let test = predicate_subquery(key, &scope, random);
    let (yes, no) = (scalar_subquery(result, &scope, random), expr(result, 1, &scope, random));
    format!("SELECT k, CASE WHEN {test} THEN {yes} ELSE {no} END FROM t")
}

fn in_groups(random: &mut Random) -> String {
    let scope = scope_of_t();
    let kind = kind(random);
    let key = scalar_subquery(kind, &scope, random);
    let call = random.of(&["count(*)", "sum(a)", "max(c)", "count(DISTINCT s)"]);
    format!("SELECT {key} AS x, {call} FROM t GROUP BY 1")
}

fn in_limit(random: &mut Random) -> String {
    let place = random.of(&["LIMIT (SELECT count(*) / 3 FROM n)", "OFFSET (SELECT max(k2) FROM u) LIMIT 5"]);
    format!("{MARK}SELECT k, c FROM t ORDER BY k DESC {place}")
}

fn two_levels(random: &mut Random) -> String {
    let scope = scope_of_t();
    let (first, first_scope) = from(random, &scope, 0);
    let (second, second_scope) = from(random, &first_scope, 0);
    let value = expr(Kind::Int, 1, &second_scope, random);
    let (inner, outer) = (expr(Kind::Bool, 1, &second_scope, random), expr(Kind::Bool, 1, &first_scope, random));
    let call = random.of(&["count", "max", "sum", "min"]);
    let test = random.of(&["EXISTS", "NOT EXISTS"]);
    if random.once_in(2) {
        format!(
            "SELECT k, (SELECT count(*) FROM {first} WHERE {outer} AND {test} (SELECT {value} FROM {second} WHERE {inner})) FROM t"
        )
    } else {
        let own = second_scope.columns[first_scope.columns.len()..].to_vec();
        let value = expr(Kind::Int, 1, &Scope { columns: own, queries: 0 }, random);
        format!(
            "SELECT k FROM t WHERE {test} (SELECT 1 FROM {first} WHERE {outer} AND t.k > (SELECT {call}({value}) FROM {second} WHERE {inner}))"
        )
    }
}

fn in_aggregates(random: &mut Random) -> String {
    let scope = scope_of_t();
    let subquery = scalar_subquery(Kind::Int, &scope, random);
    let key = kind(random);
    let test = predicate_subquery(key, &scope, random);
    match random.below(3) {
        0 => format!("SELECT f, sum({subquery}) FROM t GROUP BY f"),
        1 => format!("SELECT f, count(*) FILTER (WHERE {test}) FROM t GROUP BY f"),
        _ => format!("SELECT k, sum({subquery}) OVER (ORDER BY k) FROM t"),
    }
}

fn of_rows(random: &mut Random) -> String {
    let (outer, mut scope) = from(random, &Scope::default(), 0);
    scope.queries = 1;
    let kinds = kinds(random);
    let (inner, inner_scope) = from(random, &scope, 0);
    let own = Scope { columns: inner_scope.columns[scope.columns.len()..].to_vec(), queries: 0 };
    let order: Vec<String> = (1..=kinds.len()).map(|i| i.to_string()).collect();
    let list = items(random, &own, &kinds);
    let condition = expr(Kind::Bool, 1, &inner_scope, random);
    let wanted = [kind(random)];
    let shown = items(random, &scope, &wanted);
    let limited = format!("SELECT {list} FROM {inner} WHERE {condition} ORDER BY {} LIMIT 1", order.join(", "));
    if kinds.len() == 1 {
        return format!("SELECT {shown}, ({limited}) FROM {outer}");
    }
    format!("SELECT {shown} FROM {outer}{} AND EXISTS ({limited} OFFSET 1)", filter_or_true(random, &scope))
}

fn filter_or_true(random: &mut Random, scope: &Scope) -> String {
    let filter = filter(random, scope);
    if filter.is_empty() { " WHERE true".to_owned() } else { filter }
}
