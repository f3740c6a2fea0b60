//! Generates queries. Rows are compared in any order, so a LIMIT always comes with an order over every column.

use crate::data::{TABLES, literal};
use crate::expr::{KINDS, Kind, Scope, expr};
use crate::ordered;
use crate::random::Random;
use crate::shapes;

/// A top-level query.
pub(crate) fn query(random: &mut Random) -> String {
    match random.below(20) {
        0..5 => plain(random),
        5..8 => grouped(random),
        8 => set_operation(random),
        9 => with(random),
        10 => windowed(random),
        11 => keyed(random),
        12 | 13 => ordered::query(random),
        _ => shapes::query(random),
    }
}

/// A FROM clause, and the scope with its columns.
pub(crate) fn from(random: &mut Random, outer: &Scope, queries: usize) -> (String, Scope) {
    let mut scope = Scope { columns: outer.columns.clone(), queries };
    let level = outer.columns.len();
    let add = |random: &mut Random, scope: &mut Scope, number: usize| {
        let table = &TABLES[random.below(TABLES.len())];
        let alias = format!("{}{level}_{number}", table.name);
        scope.columns.extend(table.columns.iter().map(|(name, kind)| (format!("{alias}.{name}"), *kind)));
        format!("{} AS {alias}", table.name)
    };
    let first = add(random, &mut scope, 0);
    if !random.once_in(3) {
        return (first, scope);
    }
    let left = scope.columns.clone();
    let second = add(random, &mut scope, 1);
    let right: Vec<_> = scope.columns[left.len()..].to_vec();
    let join = random.of(&["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN"]);
    let condition = match join {
        "CROSS JOIN" => String::new(),
        _ => format!(" ON {}", equality(random, &left[level..], &right)),
    };
    (format!("{first} {join} {second}{condition}"), scope)
}

/// `a = b` over columns of one type, one from each side.
fn equality(random: &mut Random, left: &[(String, Kind)], right: &[(String, Kind)]) -> String {
    let pairs: Vec<String> = left
        .iter()
        .flat_map(|l| right.iter().filter(|r| r.1 == l.1).map(move |r| format!("{} = {}", l.0, r.0)))
        .collect();
    // All pairs of tables have columns of a common type.
    pairs[random.below(pairs.len())].clone()
}

pub(crate) fn kind(random: &mut Random) -> Kind {
    KINDS[random.below(KINDS.len())]
}

pub(crate) fn filter(random: &mut Random, scope: &Scope) -> String {
    if random.once_in(4) { String::new() } else { format!(" WHERE {}", expr(Kind::Bool, 3, scope, random)) }
}

/// `e AS o0, e AS o1, …`.
pub(crate) fn items(random: &mut Random, scope: &Scope, kinds: &[Kind]) -> String {
    let item = |(i, kind): (usize, &Kind)| format!("{} AS o{i}", expr(*kind, 3, scope, random));
    kinds.iter().enumerate().map(item).collect::<Vec<_>>().join(", ")
}

pub(crate) fn kinds(random: &mut Random) -> Vec<Kind> {
    (0..=random.below(4)).map(|_| kind(random)).collect()
}

/// ` ORDER BY 1 …, 2 … LIMIT n`, sometimes.
pub(crate) fn cut(random: &mut Random, columns: usize) -> String {
    if !random.once_in(3) {
        return String::new();
    }
    let mut order = |i: usize| {
        let direction = random.of(&["", " DESC", " NULLS FIRST", " DESC NULLS LAST"]);
        format!("{}{direction}", i + 1)
    };
    let order: Vec<String> = (0..columns).map(&mut order).collect();
    let offset = if random.once_in(3) { format!(" OFFSET {}", random.below(4)) } else { String::new() };
    format!(" ORDER BY {} LIMIT {}{offset}", order.join(", "), random.below(20))
}

fn plain(random: &mut Random) -> String {
    let (from, scope) = from(random, &Scope::default(), 1);
    let kinds = kinds(random);
    let distinct = if random.once_in(5) { "DISTINCT " } else { "" };
    let items = items(random, &scope, &kinds);
    let filter = filter(random, &scope);
    format!("SELECT {distinct}{items} FROM {from}{filter}{}", cut(random, kinds.len()))
}

/// Predicates on the rowkey, for range scans and skip scans.
fn keyed(random: &mut Random) -> String {
    let key = |random: &mut Random| {
        let k = random.below(8) as i64 - 1;
        let word = literal(Kind::Text, random);
        match random.below(8) {
            0 => format!("k2 = {k}"),
            1 => format!("k2 > {k}"),
            2 => format!("c1 = {word}"),
            3 => format!("c1 IN ({word}, 'foo', 'B')"),
            4 => format!("(c1, k2) > ({word}, {k})"),
            5 => format!("(c1, k2) IN (({word}, {k}), ('a', 1))"),
            6 => "c1 LIKE 'Foo%'".to_owned(),
            _ => format!("k2 BETWEEN {k} AND {}", k + 2),
        }
    };
    let mut condition = key(random);
    for _ in 0..random.below(4) {
        let next = key(random);
        condition = match random.below(4) {
            0 => format!("({condition} OR {next})"),
            1 => format!("(NOT {condition} AND {next})"),
            _ => format!("({condition} AND {next})"),
        };
    }
    let order = if random.once_in(2) { "c1, k2 DESC" } else { "c1 DESC, k2" };
    format!("SELECT c1, k2, v, w FROM u WHERE {condition} ORDER BY {order} LIMIT {}", random.below(12) + 1)
}

fn aggregate(random: &mut Random, scope: &Scope) -> String {
    let filter = match random.below(6) {
        0 => format!(" FILTER (WHERE {})", expr(Kind::Bool, 2, scope, random)),
        _ => String::new(),
    };
    let distinct = if random.once_in(5) { "DISTINCT " } else { "" };
    let e = |kind, random: &mut Random| expr(kind, 2, scope, random);
    let call = match random.below(8) {
        0 => "count(*)".to_owned(),
        1 => format!("count({distinct}{})", e(kind(random), random)),
        2 => format!("sum({distinct}{})", e(Kind::Int, random)),
        3 => format!("sum({})", e(Kind::Numeric, random)),
        4 => format!("min({})", e(Kind::Date, random)),
        5 => format!("max({})", e(Kind::Text, random)),
        6 => format!("bool_or({})", e(Kind::Bool, random)),
        _ => return format!("round(avg({}){filter}, 4)", e(Kind::Int, random)),
    };
    call + &filter
}

fn grouped(random: &mut Random) -> String {
    let (from, scope) = from(random, &Scope::default(), 0);
    let keys: Vec<Kind> = (0..random.below(3)).map(|_| kind(random)).collect();
    let mut columns: Vec<String> = keys.iter().map(|kind| expr(*kind, 2, &scope, random)).collect();
    columns.extend((0..=random.below(3)).map(|_| aggregate(random, &scope)));
    let numbers: Vec<String> = (1..=keys.len()).map(|i| i.to_string()).collect();
    let group = match (numbers.is_empty(), random.below(6)) {
        (true, _) => String::new(),
        (false, 0) => format!(" GROUP BY ROLLUP ({})", numbers.join(", ")),
        (false, _) => format!(" GROUP BY {}", numbers.join(", ")),
    };
    // In ROLLUP a constant means a column of the select list, so only plain GROUP BY gets constants.
    let having = if random.once_in(4) { format!(" HAVING count(*) > {}", random.below(3)) } else { String::new() };
    let filter = filter(random, &scope);
    let mut cut = cut(random, columns.len());
    // Neither server sorts by a constant that ROLLUP makes NULL, so LIMIT would select other rows.
    let constant = |key: &String| !scope.columns.iter().any(|(name, _)| name == key);
    if group.contains("ROLLUP") && columns.iter().take(keys.len()).any(constant) {
        cut.clear();
    }
    format!("SELECT {} FROM {from}{filter}{group}{having}{cut}", columns.join(", "))
}

fn set_operation(random: &mut Random) -> String {
    let kinds = kinds(random);
    let side = |random: &mut Random| {
        let (from, scope) = from(random, &Scope::default(), 0);
        format!("SELECT {} FROM {from}{}", items(random, &scope, &kinds), filter(random, &scope))
    };
    let (left, right) = (side(random), side(random));
    let operator = random.of(&["UNION", "UNION ALL", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL"]);
    format!("{left} {operator} {right}{}", cut(random, kinds.len()))
}

fn with(random: &mut Random) -> String {
    let kinds = kinds(random);
    let (from, scope) = from(random, &Scope::default(), 1);
    let inner = format!("SELECT {} FROM {from}{}", items(random, &scope, &kinds), filter(random, &scope));
    let columns = kinds.iter().enumerate().map(|(i, kind)| (format!("w.o{i}"), *kind)).collect();
    let outer = Scope { columns, queries: 0 };
    let wanted = [kind(random), kind(random)];
    let list = items(random, &outer, &wanted);
    let filter = filter(random, &outer);
    if random.once_in(2) {
        format!("WITH w AS ({inner}) SELECT {list} FROM w{filter}{}", cut(random, 2))
    } else {
        format!("SELECT {list} FROM ({inner}) AS w{filter}{}", cut(random, 2))
    }
}

/// Windows ordered by the key, which is a total order.
fn windowed(random: &mut Random) -> String {
    let columns = TABLES[0].columns.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect();
    let scope = Scope { columns, queries: 0 };
    let value = expr(Kind::Int, 2, &scope, random);
    let call = match random.below(9) {
        0 => "row_number()".to_owned(),
        1 => format!("lag({value})"),
        2 => format!("lead({value}, 2)"),
        3 => format!("sum({value})"),
        4 => format!("first_value({value})"),
        5 => "count(*)".to_owned(),
        6 => "rank()".to_owned(),
        7 => format!("max({value})"),
        _ => "ntile(4)".to_owned(),
    };
    let by = if random.once_in(2) {
        format!("PARTITION BY {} ", expr(kind(random), 1, &scope, random))
    } else {
        String::new()
    };
    let direction = random.of(&["", " DESC"]);
    let frame = match call.split('(').next() {
        Some("sum" | "first_value" | "count" | "max") if random.once_in(2) => {
            " ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING"
        }
        _ => "",
    };
    format!("SELECT k, {call} OVER ({by}ORDER BY k{direction}{frame}) FROM t{}", filter(random, &scope))
}

/// `(SELECT one value FROM …)` with an aggregate, so that it returns one row.
pub(crate) fn scalar_subquery(kind: Kind, scope: &Scope, random: &mut Random) -> String {
    let (from, inner) = from(random, scope, 0);
    // An aggregate over outer columns only would belong to the outer query.
    let own = Scope { columns: inner.columns[scope.columns.len()..].to_vec(), queries: 0 };
    let value = match kind {
        Kind::Int => format!("max({})", expr(kind, 1, &own, random)),
        Kind::Bool => format!("bool_and({})", expr(kind, 1, &own, random)),
        _ => format!("min({})", expr(kind, 1, &own, random)),
    };
    format!("(SELECT {value} FROM {from} WHERE {})", expr(Kind::Bool, 1, &inner, random))
}

/// EXISTS and IN with a subquery, which may be correlated.
pub(crate) fn predicate_subquery(kind: Kind, scope: &Scope, random: &mut Random) -> String {
    let (from, inner) = from(random, scope, 0);
    let not = if random.once_in(2) { "NOT " } else { "" };
    let condition = expr(Kind::Bool, 2, &inner, random);
    if random.once_in(2) {
        return format!("({not}EXISTS (SELECT 1 FROM {from} WHERE {condition}))");
    }
    let own = Scope { columns: inner.columns[scope.columns.len()..].to_vec(), queries: 0 };
    let value = expr(kind, 1, &own, random);
    format!("({} {not}IN (SELECT {value} FROM {from} WHERE {condition}))", expr(kind, 1, scope, random))
}
