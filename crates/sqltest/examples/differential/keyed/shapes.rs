//! Shapes of whole queries. An ORDER BY has all columns, since the order of peers is unspecified.

use super::aggregates::{grouped, windowed};
use super::conditions::{condition, filter};
use super::expr::{compared, expr};
use super::tables::Table;
use super::values::Kind;
use super::{Maker, Scope};
use crate::ordered::MARK;

type Own = Vec<(&'static Table, String)>;

/// A query of any shape.
pub(crate) fn query(maker: &mut Maker) -> String {
    match maker.below(22) {
        0..6 => plain(maker),
        6..10 => {
            let (from, scope) = filtered(maker);
            let (text, columns) = grouped(maker, &from, &scope);
            cut(maker, text, columns)
        }
        10 => {
            let (from, scope) = filtered(maker);
            let (text, columns) = windowed(maker, &from, &scope);
            cut(maker, text, columns)
        }
        11..14 => sets(maker),
        14 => with(maker),
        15 => derived(maker),
        16 => distinct_on(maker),
        17..20 => by_key_order(maker),
        20 => lateral(maker),
        _ => extremes(maker),
    }
}

/// FROM with one to three tables, the scope, and these tables.
fn from(maker: &mut Maker) -> (String, Scope, Own) {
    let (mut text, table, alias) = maker.table();
    let mut scope = Scope::of(table, &alias, 2);
    let mut own = vec![(table, alias)];
    for _ in 0..[0, 0, 1, 1, 2][maker.below(5)] {
        let (other, table, alias) = maker.table();
        let right = Scope::of(table, &alias, 2);
        let join = maker.of(&["JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN"]);
        text = match join {
            "CROSS JOIN" => format!("{text} CROSS JOIN {other}"),
            _ => format!("{text} {join} {other} ON {}", join_condition(maker, join, &scope, &right, (table, &alias))),
        };
        scope = scope.with(&right);
        own.push((table, alias));
    }
    (text, scope, own)
}

/// A join condition: equality of columns of one type, preferably the right side's first key column, and sometimes more.
fn join_condition(maker: &mut Maker, join: &str, left: &Scope, right: &Scope, table: (&'static Table, &str)) -> String {
    let key = &right.columns[table.0.key[0]];
    let by_key: Vec<String> = left.of_kind(key.1).iter().map(|name| format!("{name} = {}", key.0)).collect();
    let pairs: Vec<String> = right
        .columns
        .iter()
        .flat_map(|(name, kind)| left.of_kind(*kind).into_iter().map(move |other| format!("{name} = {other}")))
        .collect();
    let mut wanted = vec![match by_key.len() {
        count if count > 0 && maker.below(3) > 0 => by_key[maker.below(count)].clone(),
        _ => pairs.get(maker.below(pairs.len())).cloned().unwrap_or_else(|| "true".to_owned()),
    }];
    if maker.once_in(3) && !pairs.is_empty() {
        wanted.push(pairs[maker.below(pairs.len())].clone());
    }
    // PostgreSQL supports FULL JOIN with equalities only.
    if join != "FULL JOIN" && maker.once_in(3) {
        let (own, scope) = ([(table.0, table.1.to_owned())], Scope { queries: 0, ..left.with(right) });
        wanted.push(condition(maker, &own, &scope));
    }
    wanted.join(" AND ")
}

/// FROM with WHERE.
fn filtered(maker: &mut Maker) -> (String, Scope) {
    let (from, scope, own) = from(maker);
    let filter = filter(maker, &own, &scope);
    (format!("{from}{filter}"), scope)
}

fn items(maker: &mut Maker, scope: &Scope, kinds: &[Kind]) -> String {
    let item = |(at, kind): (usize, &Kind)| format!("{} AS o{at}", expr(*kind, 2, scope, maker));
    kinds.iter().enumerate().map(item).collect::<Vec<_>>().join(", ")
}

fn kinds(maker: &mut Maker) -> Vec<Kind> {
    (0..=maker.below(4)).map(|_| Kind::any(maker)).collect()
}

const DIRECTIONS: [&str; 4] = ["", " DESC", " NULLS FIRST", " DESC NULLS LAST"];

/// The query without an order, or with a total order and sometimes a LIMIT.
fn cut(maker: &mut Maker, text: String, columns: usize) -> String {
    if maker.once_in(3) {
        return text;
    }
    let order: Vec<String> = (1..=columns).map(|at| format!("{at}{}", maker.of(&DIRECTIONS))).collect();
    let limit = if maker.once_in(2) { format!(" LIMIT {}", maker.below(12)) } else { String::new() };
    let offset = if maker.once_in(3) { format!(" OFFSET {}", maker.below(4)) } else { String::new() };
    format!("{MARK}{text} ORDER BY {}{limit}{offset}", order.join(", "))
}

fn plain(maker: &mut Maker) -> String {
    let (from, scope) = filtered(maker);
    let kinds = kinds(maker);
    let distinct = if maker.once_in(5) { "DISTINCT " } else { "" };
    let text = format!("SELECT {distinct}{} FROM {from}", items(maker, &scope, &kinds));
    cut(maker, text, kinds.len())
}

fn sets(maker: &mut Maker) -> String {
    let kinds = kinds(maker);
    let mut side = || {
        let (from, scope) = filtered(maker);
        format!("SELECT {} FROM {from}", items(maker, &scope, &kinds))
    };
    let (a, b, c) = (side(), side(), side());
    let mut operator = || maker.of(&["UNION", "UNION ALL", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL"]);
    let (x, y) = (operator(), operator());
    match maker.below(4) {
        0 => format!("{a} {x} ({b} {y} {c})"),
        1 => cut(maker, format!("{a} {x} {b} {y} {c}"), kinds.len()),
        _ => cut(maker, format!("{a} {x} {b}"), kinds.len()),
    }
}

fn with(maker: &mut Maker) -> String {
    let kinds = [Kind::Int, Kind::any(maker)];
    let (inner, scope) = filtered(maker);
    let list = items(maker, &scope, &kinds);
    let own = Scope { columns: vec![("w.o0".to_owned(), kinds[0]), ("w.o1".to_owned(), kinds[1])], queries: 1 };
    let (from, table, alias) = maker.table();
    let both = own.with(&Scope::of(table, &alias, 1));
    let on = join_condition(maker, "JOIN", &own, &Scope::of(table, &alias, 1), (table, &alias));
    let how = maker.of(&["", "MATERIALIZED ", "NOT MATERIALIZED "]);
    let wanted = [Kind::any(maker), Kind::any(maker)];
    let shown = items(maker, &both, &wanted);
    let text = format!("SELECT {shown} FROM w JOIN {from} ON {on}");
    let cut = cut(maker, text, 2);
    let (mark, text) = cut.strip_prefix(MARK).map_or(("", cut.as_str()), |text| (MARK, text));
    format!("{mark}WITH w AS {how}(SELECT {list} FROM {inner}) {text}")
}

fn derived(maker: &mut Maker) -> String {
    let kinds = [Kind::any(maker), Kind::any(maker)];
    let (inner, scope) = filtered(maker);
    let text = format!("SELECT {} FROM {inner}", items(maker, &scope, &kinds));
    let inner = cut(maker, text, 2).replace(MARK, "");
    let own = Scope { columns: vec![("d.o0".to_owned(), kinds[0]), ("d.o1".to_owned(), kinds[1])], queries: 1 };
    let wanted = [Kind::any(maker), Kind::any(maker)];
    let filter = compared(kinds[maker.below(2)], 1, &own, maker);
    let text = format!("SELECT {} FROM ({inner}) AS d WHERE {filter}", items(maker, &own, &wanted));
    cut(maker, text, 2)
}

fn distinct_on(maker: &mut Maker) -> String {
    let (from, scope) = filtered(maker);
    let kinds = [Kind::any(maker), Kind::any(maker), Kind::any(maker)];
    let list = items(maker, &scope, &kinds);
    let first = maker.of(&DIRECTIONS);
    format!("{MARK}SELECT DISTINCT ON (o0) * FROM (SELECT {list} FROM {from}) AS d ORDER BY o0{first}, o1, o2")
}

/// Rows in key order, or ordered by the key columns in another order, with a LIMIT.
fn by_key_order(maker: &mut Maker) -> String {
    let (from, table, alias) = maker.table();
    let own = vec![(table, alias.clone())];
    let scope = Scope::of(table, &alias, 1);
    let filter = filter(maker, &own, &scope);
    let reverse = maker.once_in(2);
    let mut keys: Vec<String> = table
        .key
        .iter()
        .map(|at| {
            let direction = if maker.once_in(4) {
                maker.of(&DIRECTIONS)
            } else if reverse {
                " DESC"
            } else {
                ""
            };
            format!("{alias}.{}{direction}", table.columns[*at].name)
        })
        .collect();
    if maker.once_in(3) {
        let at = maker.below(table.columns.len());
        keys.insert(0, format!("{alias}.{}{}", table.columns[at].name, maker.of(&DIRECTIONS)));
    }
    let wanted = kinds(maker);
    let list = items(maker, &scope, &wanted);
    let limit = if maker.once_in(4) { String::new() } else { format!(" LIMIT {}", maker.below(9)) };
    let offset = if maker.once_in(4) { format!(" OFFSET {}", maker.below(4)) } else { String::new() };
    format!("{MARK}SELECT {list} FROM {from}{filter} ORDER BY {}{limit}{offset}", keys.join(", "))
}

/// A LATERAL subquery that refers to the table before it.
fn lateral(maker: &mut Maker) -> String {
    let (from, table, alias) = maker.table();
    let outer = Scope::of(table, &alias, 1);
    let (inner, other, name) = maker.table();
    let inside = Scope::of(other, &name, 0);
    let on = join_condition(maker, "JOIN", &outer, &inside, (other, &name));
    let kinds = [Kind::any(maker), Kind::any(maker)];
    let list = items(maker, &inside.with(&outer), &kinds);
    let text = format!("SELECT {list} FROM {inner} WHERE {on}");
    let text = cut(maker, text, 2).replace(MARK, "");
    let own = Scope { columns: vec![("l.o0".to_owned(), kinds[0]), ("l.o1".to_owned(), kinds[1])], queries: 0 };
    let join = maker.of(&["CROSS JOIN LATERAL", "LEFT JOIN LATERAL"]);
    let end = if join.starts_with("LEFT") { " ON true" } else { "" };
    let wanted = [Kind::any(maker), Kind::any(maker)];
    let shown = items(maker, &outer.with(&own), &wanted);
    let filter = filter(maker, &[(table, alias)], &outer);
    let text = format!("SELECT {shown} FROM {from} {join} ({text}) AS l{end}{filter}");
    cut(maker, text, 2)
}

/// Minima and maxima of columns, which keys and indexes give without a full scan.
fn extremes(maker: &mut Maker) -> String {
    let (from, table, alias) = maker.table();
    let columns: Vec<usize> =
        (0..table.columns.len()).filter(|at| !matches!(table.columns[*at].kind, Kind::Bool | Kind::Bytes)).collect();
    let call = |maker: &mut Maker| {
        let column = &table.columns[columns[maker.below(columns.len())]];
        format!("{}({alias}.{})", maker.of(&["min", "max", "count"]), column.name)
    };
    let count = maker.below(2) + 1;
    let calls = maker.list(count, ", ", call);
    let scope = Scope::of(table, &alias, 0);
    let filter = filter(maker, &[(table, alias.clone())], &scope);
    format!("SELECT {calls} FROM {from}{filter}")
}
