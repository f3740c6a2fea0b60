//! Generates expressions of a given type over the columns in scope.

use crate::calls;
use crate::data::literal;
use crate::generate;
use crate::random::Random;

/// The type of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Int,
    Text,
    Numeric,
    Float,
    Bool,
    Date,
    Timestamp,
    Interval,
}

pub(crate) const KINDS: [Kind; 8] =
    [Kind::Int, Kind::Text, Kind::Numeric, Kind::Float, Kind::Bool, Kind::Date, Kind::Timestamp, Kind::Interval];

pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static [(&'static str, Kind)],
}

/// Columns that an expression may name.
#[derive(Clone, Default)]
pub(crate) struct Scope {
    pub(crate) columns: Vec<(String, Kind)>,
    /// Remaining nesting depth of subqueries.
    pub(crate) queries: usize,
}

/// An expression with at most `depth` more levels.
pub(crate) fn expr(kind: Kind, depth: usize, scope: &Scope, random: &mut Random) -> String {
    if depth == 0 || random.once_in(4) {
        return leaf(kind, scope, random);
    }
    if random.once_in(8) {
        return common(kind, depth - 1, scope, random);
    }
    if random.once_in(3)
        && let Some(call) = calls::call(kind, depth - 1, scope, random)
    {
        return call;
    }
    match kind {
        Kind::Int => int(depth - 1, scope, random),
        Kind::Text => text(depth - 1, scope, random),
        Kind::Numeric => numeric(depth - 1, scope, random),
        Kind::Float => float(depth - 1, scope, random),
        Kind::Bool => boolean(depth - 1, scope, random),
        Kind::Date => date(depth - 1, scope, random),
        Kind::Timestamp => timestamp(depth - 1, scope, random),
        Kind::Interval => format!(
            "({} - {})",
            expr(Kind::Timestamp, depth - 1, scope, random),
            expr(Kind::Timestamp, depth - 1, scope, random)
        ),
    }
}

fn leaf(kind: Kind, scope: &Scope, random: &mut Random) -> String {
    let fitting: Vec<&String> = scope.columns.iter().filter(|(_, k)| *k == kind).map(|(name, _)| name).collect();
    if fitting.is_empty() || random.once_in(4) {
        literal(kind, random)
    } else {
        fitting[random.below(fitting.len())].clone()
    }
}

/// An expression form that exists for every type.
fn common(kind: Kind, depth: usize, scope: &Scope, random: &mut Random) -> String {
    let mut e = |kind| expr(kind, depth, scope, random);
    let (a, b, condition) = (e(kind), e(kind), e(Kind::Bool));
    match random.below(6) {
        0 => format!("CASE WHEN {condition} THEN {a} ELSE {b} END"),
        1 => format!("CASE WHEN {condition} THEN {a} END"),
        2 => format!("coalesce({a}, {b})"),
        3 => format!("nullif({a}, {b})"),
        4 if kind != Kind::Bool => format!("greatest({a}, {b})"),
        _ if scope.queries > 0 => generate::scalar_subquery(kind, scope, random),
        _ => format!("coalesce({a}, {b})"),
    }
}

fn int(depth: usize, scope: &Scope, random: &mut Random) -> String {
    let choice = random.below(13);
    let mut e = |kind| expr(kind, depth, scope, random);
    match choice {
        0 => format!("({} + {})", e(Kind::Int), e(Kind::Int)),
        1 => format!("({} - {})", e(Kind::Int), e(Kind::Int)),
        2 => format!("({} * {})", e(Kind::Int), e(Kind::Int)),
        3 => format!("({} / nullif({}, 0))", e(Kind::Int), e(Kind::Int)),
        4 => format!("({} % nullif({}, 0))", e(Kind::Int), e(Kind::Int)),
        5 => format!("abs({})", e(Kind::Int)),
        6 => format!("length({})", e(Kind::Text)),
        7 => format!("({} - {})", e(Kind::Date), e(Kind::Date)),
        8 => format!("extract(month from {})::integer", e(Kind::Date)),
        9 => format!("position('a' in {})", e(Kind::Text)),
        10 => format!("({})::integer", e(Kind::Bool)),
        11 => format!("(- {})", e(Kind::Int)),
        _ => format!("round({})::integer", e(Kind::Numeric)),
    }
}

fn text(depth: usize, scope: &Scope, random: &mut Random) -> String {
    let choice = random.below(14);
    let small = random.below(6);
    let mut e = |kind| expr(kind, depth, scope, random);
    match choice {
        0 => format!("({} || {})", e(Kind::Text), e(Kind::Text)),
        1 => format!("upper({})", e(Kind::Text)),
        2 => format!("lower({})", e(Kind::Text)),
        3 => format!("substr({}, {small}, 2)", e(Kind::Text)),
        4 => format!("left({}, {})", e(Kind::Text), small as i64 - 2),
        5 => format!("replace({}, 'a', {})", e(Kind::Text), e(Kind::Text)),
        6 => format!("trim({})", e(Kind::Text)),
        7 => format!("({})::text", e(Kind::Int)),
        8 => format!("({})::text", e(Kind::Date)),
        9 => format!("lpad({}, {small}, '*')", e(Kind::Text)),
        10 => format!("reverse({})", e(Kind::Text)),
        11 => format!("concat({}, {})", e(Kind::Int), e(Kind::Bool)),
        12 => format!("split_part({}, ' ', {})", e(Kind::Text), small + 1),
        // `trim_scale`, since a numeric without precision drops trailing zeros.
        _ => format!("trim_scale({})::text", e(Kind::Numeric)),
    }
}

fn numeric(depth: usize, scope: &Scope, random: &mut Random) -> String {
    let choice = random.below(8);
    let digits = random.below(3);
    let mut e = |kind| expr(kind, depth, scope, random);
    match choice {
        0 => format!("({} + {})", e(Kind::Numeric), e(Kind::Numeric)),
        1 => format!("({} - {})", e(Kind::Numeric), e(Kind::Int)),
        2 => format!("round({} * {}, 2)", e(Kind::Numeric), e(Kind::Numeric)),
        3 => format!("round({}, {digits})", e(Kind::Numeric)),
        4 => format!("abs({})", e(Kind::Numeric)),
        5 => format!("ceil({})", e(Kind::Numeric)),
        6 => format!("floor({})", e(Kind::Numeric)),
        _ => format!("round({}::numeric / nullif({}, 0), 3)", e(Kind::Int), e(Kind::Numeric)),
    }
}

fn float(depth: usize, scope: &Scope, random: &mut Random) -> String {
    let choice = random.below(5);
    let mut e = |kind| expr(kind, depth, scope, random);
    match choice {
        0 => format!("({} + {})", e(Kind::Float), e(Kind::Float)),
        1 => format!("({} * {})", e(Kind::Float), e(Kind::Int)),
        2 => format!("abs({})", e(Kind::Float)),
        3 => format!("({})::float8", e(Kind::Int)),
        _ => format!("round({})", e(Kind::Float)),
    }
}

fn boolean(depth: usize, scope: &Scope, random: &mut Random) -> String {
    let choice = random.below(14);
    let kind = KINDS[random.below(KINDS.len())];
    let operator = random.of(&["=", "<>", "<", "<=", ">", ">="]);
    let pattern = random.of(&["'%a%'", "'F%'", "'_o%'", "'x\\%y'", "''", "'%'"]);
    if choice >= 12 && scope.queries > 0 {
        return generate::predicate_subquery(kind, scope, random);
    }
    let mut e = |kind| expr(kind, depth, scope, random);
    match choice {
        0 => format!("({} AND {})", e(Kind::Bool), e(Kind::Bool)),
        1 => format!("({} OR {})", e(Kind::Bool), e(Kind::Bool)),
        2 => format!("(NOT {})", e(Kind::Bool)),
        3 => format!("({} IS NULL)", e(kind)),
        4 => format!("({} IS NOT NULL)", e(kind)),
        5 => format!("({} BETWEEN {} AND {})", e(kind), e(kind), e(kind)),
        6 => format!("({} IN ({}, {}, {}))", e(kind), e(kind), e(kind), e(kind)),
        7 => format!("({} LIKE {pattern})", e(Kind::Text)),
        8 => format!("({} IS DISTINCT FROM {})", e(kind), e(kind)),
        9 => format!("({} NOT IN ({}, {}))", e(kind), e(kind), e(kind)),
        _ => format!("({} {operator} {})", e(kind), e(kind)),
    }
}

fn date(depth: usize, scope: &Scope, random: &mut Random) -> String {
    let choice = random.below(3);
    let days = random.below(50);
    let mut e = |kind| expr(kind, depth, scope, random);
    match choice {
        0 => format!("({} + {days})", e(Kind::Date)),
        1 => format!("({} - {days})", e(Kind::Date)),
        _ => format!("({})::date", e(Kind::Timestamp)),
    }
}

fn timestamp(depth: usize, scope: &Scope, random: &mut Random) -> String {
    let choice = random.below(4);
    let unit = random.of(&["month", "day", "hour", "year", "week"]);
    let mut e = |kind| expr(kind, depth, scope, random);
    match choice {
        0 => format!("({} + interval '1 day 02:00')", e(Kind::Timestamp)),
        1 => format!("({} - interval '1 month')", e(Kind::Timestamp)),
        2 => format!("date_trunc('{unit}', {})", e(Kind::Timestamp)),
        _ => format!("({})::timestamp", e(Kind::Date)),
    }
}
