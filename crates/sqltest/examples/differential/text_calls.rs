//! Functions of text with constants near the limits.

use crate::random::Random;

fn text(random: &mut Random) -> &'static str {
    random.of(&[
        "''",
        "'a'",
        "'abc'",
        "'Hello World'",
        "'ab€'",
        "'  x  '",
        "NULL",
        "'a,b,,c'",
        "'ab'::char(4)",
        "'x%y_z'",
    ])
}

/// A number of characters, or a position.
pub(crate) fn count(random: &mut Random) -> &'static str {
    random.of(&["0", "1", "2", "-1", "-3", "5", "100", "NULL"])
}

/// A call with text arguments.
pub(crate) fn texts(random: &mut Random) -> String {
    let (t, u, n, m) = (text(random), text(random), count(random), count(random));
    match random.below(40) {
        0 => format!("left({t}, {n})"),
        1 => format!("right({t}, {n})"),
        2 => format!("substr({t}, {n})"),
        3 => format!("substr({t}, {n}, {m})"),
        4 => format!("substring({t} from {n} for {m})"),
        5 => format!("lpad({t}, least({n}, 40), {u})"),
        6 => format!("rpad({t}, least({n}, 40))"),
        7 => format!("split_part({t}, {u}, {n})"),
        8 => format!("strpos({t}, {u})"),
        9 => format!("overlay({t} placing {u} from {n})"),
        10 => format!("overlay({t} placing {u} from {n} for {m})"),
        11 => format!("repeat({t}, least({n}, 9))"),
        12 => format!("translate({t}, {u}, 'xy')"),
        13 => format!("btrim({t}, {u})"),
        14 => format!("trim(leading 'a' from {t})"),
        15 => format!("initcap({t} || '-' || {u})"),
        16 => format!("chr({n})"),
        17 => format!("ascii({t})"),
        18 => format!("to_hex({n})"),
        19 => format!("format('%s|%10s|%-5s|%I', {t}, {u}, {t}, 'a b')"),
        20 => format!("format('%2$s %1$s %%', {t}, {n})"),
        21 => format!("concat({t}, {n}, {u}), concat_ws({t}, {u}, NULL, {n})"),
        22 => format!("quote_ident({t}), quote_nullable({u})"),
        23 => format!("encode({t}::bytea, 'hex'), encode({u}::bytea, 'base64'), encode({t}::bytea, 'escape')"),
        24 => format!("decode({t}, 'hex')"),
        25 => format!("decode({t}, 'base64')"),
        26 => format!("length({t}), octet_length({t}), bit_length({t}), char_length({u})"),
        27 => format!("reverse({t}), upper({t}), lower({u})"),
        28 => format!("regexp_replace({t}, '(.)(b|l)', '[\\2\\1]', 'g')"),
        29 => format!("regexp_match({t}, '([a-z]+)\\W*(\\w)?')"),
        30 => format!("regexp_split_to_array({t}, '[ ,]')"),
        31 => format!("regexp_count({t}, '[a-l]'), regexp_instr({u}, 'l'), regexp_substr({t}, 'l+')"),
        32 => format!("starts_with({t}, {u}), position({u} in {t})"),
        33 => format!("string_to_array({t}, {u})"),
        34 => format!("md5({t}), sha256({u}::bytea)"),
        35 => format!("unistr({t})"),
        36 => format!("to_number({t}, '99')"),
        37 => format!("{t} || {n} || {u}"),
        38 => format!("get_byte({t}::bytea, {n}), set_byte('abc'::bytea, {m}, 1)"),
        _ => format!("{t} < {u}, {t} = {u}, {t} LIKE {u}, {t} ILIKE {u} || '%'"),
    }
}
