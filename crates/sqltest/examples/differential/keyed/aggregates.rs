//! Aggregates, groups and windows.

use super::expr::expr;
use super::values::Kind;
use super::{Maker, Scope};

/// An aggregate call whose result does not depend on the order of rows.
pub(crate) fn aggregate(maker: &mut Maker, scope: &Scope) -> String {
    let filter =
        if maker.once_in(5) { format!(" FILTER (WHERE {})", expr(Kind::Bool, 1, scope, maker)) } else { String::new() };
    let distinct = if maker.once_in(4) { "DISTINCT " } else { "" };
    let kind = Kind::any(maker);
    let choice = maker.below(14);
    let ordered = match kind {
        Kind::Bool | Kind::Bytes | Kind::Ints | Kind::Texts => Kind::Text,
        other => other,
    };
    let mut e = |kind| expr(kind, 1, scope, maker);
    let call = match choice {
        0 | 1 => "count(*)".to_owned(),
        2 => format!("count({distinct}{})", e(kind)),
        3 => format!("sum({distinct}{})", e(Kind::Int)),
        4 => format!("sum({distinct}{})", e(Kind::Num)),
        5 | 6 => format!("min({})", e(ordered)),
        7 | 8 => format!("max({})", e(ordered)),
        9 => format!("bool_or({})", e(Kind::Bool)),
        10 => format!("bool_and({})", e(Kind::Bool)),
        11 => {
            let (value, key) = (e(Kind::Text), e(Kind::Text));
            format!("string_agg({value}, ',' ORDER BY {value}, {key})")
        }
        12 => {
            let value = e(kind);
            format!("array_agg({value} ORDER BY {value} DESC NULLS LAST)")
        }
        _ => return format!("round(avg({distinct}{}){filter}, 4)", e(Kind::Num)),
    };
    call + &filter
}

/// Adds SELECT list, GROUP BY and HAVING to `from`. Returns the number of columns too.
pub(crate) fn grouped(maker: &mut Maker, from: &str, scope: &Scope) -> (String, usize) {
    let keys: Vec<String> = (0..maker.below(3))
        .map(|_| {
            let kind = Kind::any(maker);
            expr(kind, 1, scope, maker)
        })
        .collect();
    let calls: Vec<String> = (0..=maker.below(3)).map(|_| aggregate(maker, scope)).collect();
    let columns: Vec<String> = keys.iter().chain(&calls).cloned().collect();
    let numbers: Vec<String> = (1..=keys.len()).map(|at| at.to_string()).collect();
    let group = match (numbers.is_empty(), maker.below(7)) {
        (true, _) => String::new(),
        (false, 0) => format!(" GROUP BY ROLLUP ({})", numbers.join(", ")),
        (false, 1) => format!(" GROUP BY CUBE ({})", numbers.join(", ")),
        (false, _) => format!(" GROUP BY {}", numbers.join(", ")),
    };
    let having = match maker.below(4) {
        0 => format!(" HAVING {} IS NOT NULL", aggregate(maker, scope)),
        1 => " HAVING count(*) > 1".to_owned(),
        _ => String::new(),
    };
    (format!("SELECT {} FROM {from}{group}{having}", columns.join(", ")), columns.len())
}

/// Columns and window functions whose results do not depend on the order of equal rows.
pub(crate) fn windowed(maker: &mut Maker, from: &str, scope: &Scope) -> (String, usize) {
    let (by, kind) = (Kind::any(maker), Kind::any(maker));
    let part = expr(kind, 1, scope, maker);
    let order = expr(by, 1, scope, maker);
    let number = expr(Kind::Int, 1, scope, maker);
    let direction = maker.of(&["", " DESC", " NULLS FIRST", " DESC NULLS LAST"]);
    let partition = if maker.once_in(2) { format!("PARTITION BY {part} ") } else { String::new() };
    let call =
        maker.of(&["rank()", "dense_rank()", "count(*)", "sum(V)", "max(V)", "min(V)", "count(V)", "cume_dist()"]);
    let call = call.replace('V', &number);
    let list = format!("{part}, {order}, {number}");
    (format!("SELECT {list}, {call} OVER ({partition}ORDER BY {order}{direction}) FROM {from}"), 4)
}
