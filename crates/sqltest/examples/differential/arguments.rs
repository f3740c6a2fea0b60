//! Functions and operators of constants, and calls that match no signature.

use crate::array_calls::{arrays, numbers};
use crate::casts::{TYPES, fitting};
use crate::further::EXACT;
use crate::moment_calls::{intervals, moments};
use crate::random::Random;
use crate::text_calls::texts;

/// A call with constants only or with a column.
pub(crate) fn query(random: &mut Random) -> String {
    match random.below(12) {
        0..3 => format!("{EXACT}SELECT {}", texts(random)),
        3 => format!("{EXACT}SELECT {}", numbers(random)),
        4 | 5 => format!("{EXACT}SELECT {}", moments(random)),
        6 => format!("{EXACT}SELECT {}", intervals(random)),
        7 | 8 => format!("{EXACT}SELECT {}", arrays(random)),
        9 => operators(random),
        10 => signatures(random),
        _ => patterns(random),
    }
}

/// Operators with operands of any types: whether the operator exists, and its result type.
fn operators(random: &mut Random) -> String {
    let operator = random.of(&[
        "+",
        "-",
        "*",
        "/",
        "%",
        "||",
        "=",
        "<>",
        "<",
        ">=",
        "LIKE",
        "~",
        "AND",
        "@>",
        "&",
        "^",
        "IS DISTINCT FROM",
        "IN",
    ]);
    let (x, y) = (fitting(random), fitting(random));
    if operator == "IN" {
        return format!("{EXACT}SELECT {x} IN ({y}, {})", fitting(random));
    }
    if random.once_in(3) {
        return format!("{EXACT}SELECT pg_typeof({x} {operator} {y})");
    }
    format!("{EXACT}SELECT {x} {operator} {y}")
}

/// Calls with arguments of any types and number.
fn signatures(random: &mut Random) -> String {
    let name = random.of(&[
        "length",
        "upper",
        "abs",
        "round",
        "substr",
        "coalesce",
        "nullif",
        "greatest",
        "lpad",
        "date_trunc",
        "age",
        "sum",
        "avg",
        "min",
        "max",
        "count",
        "string_agg",
        "array_agg",
        "bool_and",
        "stddev",
        "to_char",
        "concat",
        "mod",
        "power",
        "sqrt",
        "left",
        "repeat",
        "array_length",
        "cardinality",
        "replace",
        "nosuch",
        "now",
        "generate_series",
        "lag",
        "rank",
        "date_part",
        "trunc",
        "md5",
        "ascii",
        "chr",
        "sign",
        "reverse",
        "percentile_cont",
        "json_agg",
        "array_append",
    ]);
    let arguments: Vec<&str> = (0..random.below(4)).map(|_| fitting(random)).collect();
    let call = format!("{name}({})", arguments.join(", "));
    if random.once_in(3) { format!("{EXACT}SELECT pg_typeof({call})") } else { format!("{EXACT}SELECT {call}") }
}

/// LIKE, SIMILAR TO and regular expressions, and columns cast to any type.
fn patterns(random: &mut Random) -> String {
    let pattern = random.of(&[
        "''",
        "'%'",
        "'a%'",
        "'%\\%%'",
        "'_'",
        "'a\\'",
        "'%a%b%'",
        "'A%'",
        "NULL",
        "'\\_z'",
        "'(a|b)%'",
        "'[a-c]+'",
        "'a{2}'",
        "'.*'",
        "'^a'",
        "'('",
        "'a**'",
        "'\\d+'",
        "'(?i)A'",
        "'[[:alpha:]]'",
        "'x{,2}'",
        "'a|'",
        "'\\mfoo\\M'",
    ]);
    let operator = random.of(&["LIKE", "NOT LIKE", "ILIKE", "SIMILAR TO", "NOT SIMILAR TO", "~", "~*", "!~"]);
    let subject = random.of(&["c", "p", "'abc'", "''", "c || 'a'", "upper(c)"]);
    match random.below(4) {
        0 => format!("SELECT c1, c1 {operator} {pattern} FROM u"),
        1 => {
            let column = random.of(&["a", "b", "s", "c", "p", "d", "e", "f", "g", "h"]);
            format!("{EXACT}SELECT k, {column}::{} FROM t WHERE k % 20 = {}", random.of(&TYPES), random.below(20))
        }
        _ => format!("SELECT k, {subject} {operator} {pattern} FROM t"),
    }
}
