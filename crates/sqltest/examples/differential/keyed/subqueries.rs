//! Scalar subqueries and subqueries in predicates, correlated by keys or not.

use super::conditions::condition;
use super::expr::expr;
use super::values::Kind;
use super::{Maker, Scope};

/// FROM a table with a predicate that may refer to columns of `outer`, and the subquery's own scope.
fn inner(maker: &mut Maker, outer: &Scope) -> (String, Scope) {
    let (from, table, alias) = maker.table();
    let own = Scope::of(table, &alias, outer.queries - 1);
    let seen = Scope { columns: outer.columns.clone(), queries: outer.queries - 1 };
    let mut wanted = Vec::new();
    if maker.below(3) > 0 {
        wanted.extend(correlation(maker, outer, &own));
    }
    if wanted.is_empty() || maker.once_in(2) {
        wanted.push(condition(maker, &[(table, alias.clone())], &own.with(&seen)));
    }
    (format!("{from} WHERE {}", wanted.join(" AND ")), own)
}

/// `inner = outer` over columns of one type; `None` if they have no common type.
fn correlation(maker: &mut Maker, outer: &Scope, own: &Scope) -> Option<String> {
    let pairs: Vec<String> = own
        .columns
        .iter()
        .flat_map(|(name, kind)| outer.of_kind(*kind).into_iter().map(move |other| (name.clone(), other.clone())))
        .map(|(name, other)| format!("{name} = {other}"))
        .collect();
    (!pairs.is_empty()).then(|| pairs[maker.below(pairs.len())].clone())
}

/// A scalar subquery.
pub(crate) fn scalar(kind: Kind, maker: &mut Maker, outer: &Scope) -> String {
    let (from, own) = inner(maker, outer);
    let value = expr(kind, 1, &own, maker);
    match maker.below(4) {
        0 if kind == Kind::Int => format!("(SELECT count(*)::integer FROM {from})"),
        // Ordered by the value itself, so that peers give the same result.
        1 => format!("(SELECT {value} FROM {from} ORDER BY 1{} LIMIT 1)", maker.of(&["", " DESC", " NULLS FIRST"])),
        2 if matches!(kind, Kind::Int | Kind::Num) => {
            format!("(SELECT sum({value}){} FROM {from})", if kind == Kind::Int { "::integer" } else { "" })
        }
        _ if matches!(kind, Kind::Bool | Kind::Bytes) => {
            format!("(SELECT {value} FROM {from} ORDER BY 1 DESC LIMIT 1)")
        }
        _ => format!("(SELECT {}({value}) FROM {from})", maker.of(&["min", "max"])),
    }
}

/// A subquery in a predicate.
pub(crate) fn predicate(maker: &mut Maker, outer: &Scope) -> String {
    let (from, own) = inner(maker, outer);
    let kind = Kind::any(maker);
    let not = maker.of(&["", "NOT "]);
    let shallow = Scope { columns: outer.columns.clone(), queries: 0 };
    let left = expr(kind, 1, &shallow, maker);
    let right = expr(kind, 1, &Scope { columns: own.columns.clone(), queries: 0 }, maker);
    match maker.below(7) {
        0 | 1 => format!("{not}EXISTS (SELECT 1 FROM {from})"),
        2 | 3 => format!("{left} {not}IN (SELECT {right} FROM {from})"),
        4 => format!("{left} {} ANY (SELECT {right} FROM {from})", maker.of(&["=", "<", ">=", "<>"])),
        5 => format!("{left} {} ALL (SELECT {right} FROM {from})", maker.of(&["=", "<", ">=", "<>"])),
        _ => {
            let second = Kind::any(maker);
            let other = expr(second, 1, &shallow, maker);
            let inner = expr(second, 1, &Scope { columns: own.columns.clone(), queries: 0 }, maker);
            format!("({left}, {other}) {not}IN (SELECT {right}, {inner} FROM {from})")
        }
    }
}
