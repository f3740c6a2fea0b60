//! Calls of functions and operators beyond arithmetic, by result type.

use crate::data::literal;
use crate::expr::{KINDS, Kind, Scope, expr};
use crate::random::Random;

/// A call with a result of `kind`; `None` if there is none.
pub(crate) fn call(kind: Kind, depth: usize, scope: &Scope, random: &mut Random) -> Option<String> {
    Some(match kind {
        Kind::Int => int(depth, scope, random),
        Kind::Text => text(depth, scope, random),
        Kind::Numeric => numeric(depth, scope, random),
        Kind::Bool => boolean(depth, scope, random),
        Kind::Date => date(depth, scope, random),
        Kind::Timestamp => timestamp(depth, scope, random),
        Kind::Interval => interval(depth, scope, random),
        Kind::Float => return None,
    })
}

fn int(depth: usize, scope: &Scope, random: &mut Random) -> String {
    let choice = random.below(18);
    let field = random.of(&["year", "quarter", "week", "day", "dow", "doy", "isodow", "decade", "century", "isoyear"]);
    let clock = random.of(&["hour", "minute", "day", "month"]);
    let mut e = |kind| expr(kind, depth, scope, random);
    match choice {
        0 => format!("ascii({})", e(Kind::Text)),
        1 => format!("octet_length({})", e(Kind::Text)),
        2 => format!("strpos({}, {})", e(Kind::Text), e(Kind::Text)),
        3 => format!("extract({field} from {})::integer", e(Kind::Date)),
        4 => format!("date_part('{clock}', {})::integer", e(Kind::Timestamp)),
        5 => format!("array_length(ARRAY[{}, {}], 1)", e(Kind::Int), e(Kind::Int)),
        6 => format!("cardinality(array_remove(ARRAY[{}, {}], {}))", e(Kind::Text), e(Kind::Text), e(Kind::Text)),
        7 => format!("sign({})::integer", e(Kind::Int)),
        8 => format!("mod({}, 7)", e(Kind::Int)),
        9 => format!("least({}, {}, {})", e(Kind::Int), e(Kind::Int), e(Kind::Int)),
        10 => format!("array_position(ARRAY[{}, {}], {})", e(Kind::Int), e(Kind::Int), e(Kind::Int)),
        11 => format!("(ARRAY[{}, {}, {}])[2]", e(Kind::Int), e(Kind::Int), e(Kind::Int)),
        12 => format!("width_bucket({}, 0, 20, 4)", e(Kind::Int)),
        13 => format!("({} & {})", e(Kind::Int), e(Kind::Int)),
        14 => format!("cardinality(string_to_array({}, 'o'))", e(Kind::Text)),
        15 => format!("extract({clock} from {})::integer", e(Kind::Interval)),
        16 => format!("trunc({})::integer", e(Kind::Numeric)),
        _ => format!("floor({})::integer", e(Kind::Float)),
    }
}

fn text(depth: usize, scope: &Scope, random: &mut Random) -> String {
    let choice = random.below(24);
    let small = random.below(5);
    let picture = random.of(&["999", "S099", "9,999.99", "FM990.0", "RN"]);
    let format = random.of(&["YYYY-MM-DD", "Mon DD", "FMDay", "IYYY-IW", "Q DDD", "HH24:MI", "YY Month"]);
    let mut e = |kind| expr(kind, depth, scope, random);
    match choice {
        0 => format!("concat_ws('-', {}, {}, {})", e(Kind::Text), e(Kind::Int), e(Kind::Text)),
        1 => format!("initcap({})", e(Kind::Text)),
        2 => format!("rpad({}, {small}, 'xy')", e(Kind::Text)),
        3 => format!("ltrim({}, 'aF')", e(Kind::Text)),
        4 => format!("translate({}, 'abo', 'x')", e(Kind::Text)),
        5 => format!("overlay({} placing 'Q' from 2)", e(Kind::Text)),
        6 => format!("repeat({}, {small})", e(Kind::Text)),
        7 => format!("md5({})", e(Kind::Text)),
        8 => format!("to_char({}, '{format}')", e(Kind::Timestamp)),
        9 => format!("to_char({}, '{picture}')", e(Kind::Int)),
        10 => format!("format('%s/%L', {}, {})", e(Kind::Text), e(Kind::Text)),
        11 => format!("substring({} from 2 for {small})", e(Kind::Text)),
        12 => format!("regexp_replace({}, '[ao]', '<\\&>')", e(Kind::Text)),
        13 => format!("array_to_string(ARRAY[{}, {}], ',', '?')", e(Kind::Text), e(Kind::Text)),
        14 => format!("right({}, {})", e(Kind::Text), small as i64 - 2),
        15 => format!("({} || {})", e(Kind::Text), e(Kind::Int)),
        16 => format!("({})::text", e(Kind::Interval)),
        17 => format!("({})::text", e(Kind::Bool)),
        18 => format!("({})::varchar(2)", e(Kind::Text)),
        19 => format!("to_char({}, '{picture}')", e(Kind::Numeric)),
        20 => format!("(ARRAY[{}, {}] || {})::text", e(Kind::Text), e(Kind::Text), e(Kind::Text)),
        21 => format!("(ARRAY[{}, {}])::text", e(Kind::Int), e(Kind::Int)),
        22 => format!("({})::text", e(Kind::Timestamp)),
        _ => format!("quote_literal({})", e(Kind::Text)),
    }
}

fn numeric(depth: usize, scope: &Scope, random: &mut Random) -> String {
    let choice = random.below(8);
    let mut e = |kind| expr(kind, depth, scope, random);
    match choice {
        0 => format!("trunc({}, 1)", e(Kind::Numeric)),
        1 => format!("mod({}, 2.5)", e(Kind::Numeric)),
        2 => format!("sign({})", e(Kind::Numeric)),
        3 => format!("({})::numeric(12,3)", e(Kind::Int)),
        4 => format!("({})::numeric", e(Kind::Int)),
        5 => format!("greatest({}, {})", e(Kind::Numeric), e(Kind::Int)),
        6 => format!("(- {})", e(Kind::Numeric)),
        _ => format!("extract(epoch from {})", e(Kind::Interval)),
    }
}

fn boolean(depth: usize, scope: &Scope, random: &mut Random) -> String {
    let choice = random.below(18);
    let kind = KINDS[random.below(KINDS.len())];
    let other = KINDS[random.below(KINDS.len())];
    let operator = random.of(&["=", "<>", "<", ">="]);
    let test = random.of(&["TRUE", "NOT TRUE", "FALSE", "NOT FALSE", "UNKNOWN", "NOT UNKNOWN"]);
    let pattern = random.of(&["'^F'", "'o+'", "'[a-c]$'", "'^$'", "'b|z'"]);
    let mut e = |kind| expr(kind, depth, scope, random);
    match choice {
        0 => format!("({} = ANY (ARRAY[{}, {}]))", e(kind), e(kind), e(kind)),
        1 => format!("({} {operator} ALL (ARRAY[{}, {}]))", e(kind), e(kind), e(kind)),
        2 => format!("({} ~ {pattern})", e(Kind::Text)),
        3 => format!("({} !~* {pattern})", e(Kind::Text)),
        4 => format!("starts_with({}, {})", e(Kind::Text), e(Kind::Text)),
        5 => format!("({} SIMILAR TO '%(a|o)_*')", e(Kind::Text)),
        6 => format!("({} BETWEEN SYMMETRIC {} AND {})", e(kind), e(kind), e(kind)),
        7 => format!("({} IS {test})", e(Kind::Bool)),
        8 => format!("(({}, {}) {operator} ({}, {}))", e(kind), e(other), e(kind), e(other)),
        9 => format!("(({}, {}) IN (({}, {}), ({}, {})))", e(kind), e(other), e(kind), e(other), e(kind), e(other)),
        10 => format!("({} ILIKE '%A%')", e(Kind::Text)),
        11 => format!("(({}, {}) OVERLAPS ({}, {}))", e(Kind::Date), e(Kind::Date), e(Kind::Date), e(Kind::Date)),
        12 => format!("(ARRAY[{}, {}] @> ARRAY[{}])", e(kind), e(kind), e(kind)),
        13 => format!("(ARRAY[{}, {}] && ARRAY[{}])", e(kind), e(kind), e(kind)),
        14 => format!("(ARRAY[{}, {}] {operator} ARRAY[{}])", e(kind), e(kind), e(kind)),
        15 => format!("({} IS NOT DISTINCT FROM {})", e(kind), e(kind)),
        16 => format!("({} NOT BETWEEN {} AND {})", e(kind), e(kind), e(kind)),
        _ => format!("({} {operator} {})", e(Kind::Int), e(Kind::Numeric)),
    }
}

fn date(depth: usize, scope: &Scope, random: &mut Random) -> String {
    let choice = random.below(5);
    let unit = random.of(&["month", "week", "quarter", "year"]);
    let small = random.below(28) + 1;
    let mut e = |kind| expr(kind, depth, scope, random);
    match choice {
        0 => format!("date_trunc('{unit}', {})::date", e(Kind::Date)),
        1 => format!("make_date(2024, {}, {small})", small % 12 + 1),
        2 => format!("({} + {})::date", e(Kind::Date), e(Kind::Interval)),
        3 => format!("to_date({}::text, 'YYYY-MM-DD')", e(Kind::Date)),
        _ => format!("({})::text::date", e(Kind::Date)),
    }
}

fn timestamp(depth: usize, scope: &Scope, random: &mut Random) -> String {
    let choice = random.below(5);
    let mut e = |kind| expr(kind, depth, scope, random);
    match choice {
        0 => format!("({} + {})", e(Kind::Timestamp), e(Kind::Interval)),
        1 => format!("({} + time '04:05')", e(Kind::Date)),
        2 => format!("({} - {})", e(Kind::Date), e(Kind::Interval)),
        3 => format!("date_trunc('hour', {} + {})", e(Kind::Timestamp), e(Kind::Interval)),
        _ => format!("date_bin('15 minutes', {}, timestamp '2001-01-01')", e(Kind::Timestamp)),
    }
}

fn interval(depth: usize, scope: &Scope, random: &mut Random) -> String {
    let choice = random.below(9);
    let mut e = |kind| expr(kind, depth, scope, random);
    match choice {
        0 => format!("({} - {})", e(Kind::Timestamp), e(Kind::Timestamp)),
        1 => format!("age({}, {})", e(Kind::Timestamp), e(Kind::Timestamp)),
        2 => format!("({} + {})", e(Kind::Interval), e(Kind::Interval)),
        3 => format!("({} - {})", e(Kind::Interval), e(Kind::Interval)),
        4 => format!("({} * 2)", e(Kind::Interval)),
        5 => format!("({} / 4)", e(Kind::Interval)),
        6 => format!("justify_hours({})", e(Kind::Interval)),
        7 => format!("make_interval(days => {})", literal(Kind::Int, random)),
        _ => format!("(- {})", e(Kind::Interval)),
    }
}
