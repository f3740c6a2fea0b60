//! Generates expressions of a given type over the columns in scope.

use super::values::{Kind, constant, value};
use super::{Maker, Scope, subqueries};

/// An expression with at most `depth` more levels.
pub(crate) fn expr(kind: Kind, depth: usize, scope: &Scope, maker: &mut Maker) -> String {
    if depth == 0 || maker.once_in(3) {
        return leaf(kind, scope, maker);
    }
    let depth = depth - 1;
    if maker.once_in(6) {
        return common(kind, depth, scope, maker);
    }
    match kind {
        Kind::Int => int(depth, scope, maker),
        Kind::Num => number(depth, scope, maker),
        Kind::Float => float(depth, scope, maker),
        Kind::Text => text(depth, scope, maker),
        Kind::Date | Kind::Stamp | Kind::Zoned => moment(kind, depth, scope, maker),
        Kind::Bytes => bytes(depth, scope, maker),
        Kind::Ints | Kind::Texts => array(kind, depth, scope, maker),
        Kind::Bool => boolean(depth, scope, maker),
    }
}

fn leaf(kind: Kind, scope: &Scope, maker: &mut Maker) -> String {
    let fitting = scope.of_kind(kind);
    match fitting.len() {
        0 => constant(kind, maker),
        _ if maker.once_in(5) => constant(kind, maker),
        count => fitting[maker.below(count)].clone(),
    }
}

/// An expression form that exists for every type.
fn common(kind: Kind, depth: usize, scope: &Scope, maker: &mut Maker) -> String {
    let (a, b) = (expr(kind, depth, scope, maker), expr(kind, depth, scope, maker));
    let condition = compared(Kind::any(maker), depth.min(1), scope, maker);
    match maker.below(9) {
        0 => format!("CASE WHEN {condition} THEN {a} ELSE {b} END"),
        1 => format!("CASE WHEN {condition} THEN {a} END"),
        2 => format!("CASE {a} WHEN {b} THEN {b} ELSE {} END", leaf(kind, scope, maker)),
        3 => format!("coalesce({a}, {b})"),
        4 => format!("nullif({a}, {b})"),
        5 if kind != Kind::Bool => format!("greatest({a}, {b})"),
        6 if kind != Kind::Bool => format!("least({a}, NULL, {b})"),
        7 if scope.queries > 0 => subqueries::scalar(kind, maker, scope),
        _ => format!("coalesce({a}, {})", value(kind, maker)),
    }
}

fn int(depth: usize, scope: &Scope, maker: &mut Maker) -> String {
    let choice = maker.below(18);
    let field = maker.of(&["year", "month", "day", "dow", "doy", "quarter", "week", "isoyear"]);
    let mut e = |kind| expr(kind, depth, scope, maker);
    match choice {
        0 => format!("({} + {})", e(Kind::Int), e(Kind::Int)),
        1 => format!("({} - {})", e(Kind::Int), e(Kind::Int)),
        2 => format!("({} * {})", e(Kind::Int), e(Kind::Int)),
        3 => format!("({} / nullif({}, 0))", e(Kind::Int), e(Kind::Int)),
        4 => format!("({} % nullif({}, 0))", e(Kind::Int), e(Kind::Int)),
        5 => format!("abs({})", e(Kind::Int)),
        6 => format!("length({})", e(Kind::Text)),
        7 => format!("length({})", e(Kind::Bytes)),
        8 => format!("({} - {})", e(Kind::Date), e(Kind::Date)),
        9 => format!("extract({field} FROM {})::integer", e(Kind::Zoned)),
        10 => format!("date_part('{field}', {})::integer", e(Kind::Date)),
        11 => format!("cardinality({})", e(Kind::Ints)),
        12 => format!("({})[1]", e(Kind::Ints)),
        13 => format!("array_position({}, {})", e(Kind::Ints), e(Kind::Int)),
        14 => format!("({})::integer", e(Kind::Num)),
        15 => format!("({})::integer", e(Kind::Bool)),
        16 => format!("position({} IN {})", e(Kind::Text), e(Kind::Text)),
        _ => format!("(- {})", e(Kind::Int)),
    }
}

fn number(depth: usize, scope: &Scope, maker: &mut Maker) -> String {
    let choice = maker.below(9);
    let digits = maker.below(4);
    let mut e = |kind| expr(kind, depth, scope, maker);
    match choice {
        0 => format!("({} + {})", e(Kind::Num), e(Kind::Num)),
        1 => format!("({} - {})", e(Kind::Num), e(Kind::Int)),
        2 => format!("({} * {})", e(Kind::Num), e(Kind::Num)),
        3 => format!("round({}, {digits})", e(Kind::Num)),
        4 => format!("abs({})", e(Kind::Num)),
        5 => format!("round({} / nullif({}, 0), 3)", e(Kind::Num), e(Kind::Num)),
        6 => format!("({})::numeric(10,{digits})", e(Kind::Num)),
        7 => format!("({} % nullif({}, 0))", e(Kind::Num), e(Kind::Num)),
        _ => format!("({})::numeric", e(Kind::Int)),
    }
}

fn float(depth: usize, scope: &Scope, maker: &mut Maker) -> String {
    let choice = maker.below(5);
    let mut e = |kind| expr(kind, depth, scope, maker);
    match choice {
        0 => format!("({} + {})", e(Kind::Float), e(Kind::Float)),
        1 => format!("({} * {})", e(Kind::Float), e(Kind::Int)),
        2 => format!("abs({})", e(Kind::Float)),
        3 => format!("({})::float8", e(Kind::Num)),
        _ => format!("(- {})", e(Kind::Float)),
    }
}

fn text(depth: usize, scope: &Scope, maker: &mut Maker) -> String {
    let choice = maker.below(20);
    let small = maker.below(5);
    let mut e = |kind| expr(kind, depth, scope, maker);
    match choice {
        0 | 1 => format!("({} || {})", e(Kind::Text), e(Kind::Text)),
        2 => format!("upper({})", e(Kind::Text)),
        3 => format!("lower({})", e(Kind::Text)),
        4 => format!("substr({}, {small}, 2)", e(Kind::Text)),
        5 => format!("left({}, {})", e(Kind::Text), small as i64 - 2),
        6 => format!("right({}, {small})", e(Kind::Text)),
        7 => format!("({})::text", e(Kind::Int)),
        8 => format!("({})::text", e(Kind::Date)),
        9 => format!("({})::text", e(Kind::Zoned)),
        10 => format!("({})::text", e(Kind::Bytes)),
        11 => format!("({})::text", e(Kind::Ints)),
        12 => format!("({} || {})", e(Kind::Text), e(Kind::Int)),
        13 => format!("encode({}, 'hex')", e(Kind::Bytes)),
        14 => format!("replace({}, 'a', {})", e(Kind::Text), e(Kind::Text)),
        15 => format!("({})::varchar(3)", e(Kind::Text)),
        16 => format!("to_char({}, 'YYYY-MM-DD HH24:MI')", e(Kind::Zoned)),
        17 => format!("array_to_string({}, '+', '-')", e(Kind::Texts)),
        18 => format!("btrim({}, 'ab')", e(Kind::Text)),
        _ => format!("({})[2]", e(Kind::Texts)),
    }
}

fn moment(kind: Kind, depth: usize, scope: &Scope, maker: &mut Maker) -> String {
    let choice = maker.below(8);
    let days = maker.below(40);
    let unit = maker.of(&["month", "day", "hour", "year", "week", "quarter"]);
    let length = maker.of(&["1 month", "1 day", "25 hours", "-1 month 3 days", "00:00:00.5"]);
    let mut e = |kind| expr(kind, depth, scope, maker);
    match (kind, choice) {
        (Kind::Date, 0..3) => format!("({} + {days})", e(Kind::Date)),
        (Kind::Date, 3) => format!("({} - {days})", e(Kind::Date)),
        (Kind::Date, 4) => format!("({})::date", e(Kind::Stamp)),
        (Kind::Date, _) => format!("({})::date", e(Kind::Zoned)),
        (_, 0..2) => format!("({} + interval '{length}')", e(kind)),
        (_, 2) => format!("({} - interval '{length}')", e(kind)),
        (_, 3) => format!("date_trunc('{unit}', {})", e(kind)),
        (Kind::Stamp, 4) => format!("({})::timestamp", e(Kind::Zoned)),
        (Kind::Stamp, 5) => format!("({} AT TIME ZONE 'Asia/Tokyo')", e(Kind::Zoned)),
        (Kind::Stamp, _) => format!("({})::timestamp", e(Kind::Date)),
        (_, 4) => format!("({})::timestamptz", e(Kind::Stamp)),
        (_, 5) => format!("({} AT TIME ZONE 'America/New_York')", e(Kind::Stamp)),
        (_, _) => format!("({})::timestamptz", e(Kind::Date)),
    }
}

fn bytes(depth: usize, scope: &Scope, maker: &mut Maker) -> String {
    let choice = maker.below(4);
    let small = maker.below(3) + 1;
    let mut e = |kind| expr(kind, depth, scope, maker);
    match choice {
        0 => format!("({} || {})", e(Kind::Bytes), e(Kind::Bytes)),
        1 => format!("substr({}, {small})", e(Kind::Bytes)),
        2 => format!("convert_to({}, 'UTF8')", e(Kind::Text)),
        _ => format!("decode(encode({}, 'base64'), 'base64')", e(Kind::Bytes)),
    }
}

fn array(kind: Kind, depth: usize, scope: &Scope, maker: &mut Maker) -> String {
    let element = if kind == Kind::Ints { Kind::Int } else { Kind::Text };
    let cast = if kind == Kind::Ints { "::integer" } else { "::text" };
    let choice = maker.below(6);
    let mut e = |kind| expr(kind, depth, scope, maker);
    match choice {
        0 | 1 => format!("ARRAY[({}){cast}, ({}){cast}]", e(element), e(element)),
        2 => format!("({} || {})", e(kind), e(kind)),
        3 => format!("array_append({}, ({}){cast})", e(kind), e(element)),
        4 => format!("({})[1:2]", e(kind)),
        _ => format!("array_remove({}, ({}){cast})", e(kind), e(element)),
    }
}

fn boolean(depth: usize, scope: &Scope, maker: &mut Maker) -> String {
    match maker.below(8) {
        0 => format!("({} AND {})", expr(Kind::Bool, depth, scope, maker), expr(Kind::Bool, depth, scope, maker)),
        1 => format!("({} OR {})", expr(Kind::Bool, depth, scope, maker), expr(Kind::Bool, depth, scope, maker)),
        2 => format!("(NOT {})", expr(Kind::Bool, depth, scope, maker)),
        3 => format!("({} @> {})", expr(Kind::Ints, depth, scope, maker), expr(Kind::Ints, depth, scope, maker)),
        4 => format!("({} && {})", expr(Kind::Texts, depth, scope, maker), expr(Kind::Texts, depth, scope, maker)),
        5 if scope.queries > 0 => subqueries::predicate(maker, scope),
        _ => {
            let kind = Kind::any(maker);
            format!("({})", compared(kind, depth, scope, maker))
        }
    }
}

/// A comparison of two expressions of `kind`.
pub(crate) fn compared(kind: Kind, depth: usize, scope: &Scope, maker: &mut Maker) -> String {
    let choice = maker.below(9);
    let operator = maker.of(&["=", "=", "<>", "<", "<=", ">", ">="]);
    let mut e = || expr(kind, depth, scope, maker);
    match choice {
        0 => format!("{} IS NULL", e()),
        1 => format!("{} IS NOT DISTINCT FROM {}", e(), e()),
        2 => format!("{} IN ({}, {})", e(), e(), e()),
        3 => format!("{} NOT BETWEEN {} AND {}", e(), e(), e()),
        4 => format!("{} BETWEEN {} AND {}", e(), e(), e()),
        _ => format!("{} {operator} {}", e(), e()),
    }
}
