//! Functions of numbers and arrays with constants near the limits of their types.

use crate::random::Random;
use crate::text_calls::count;

/// A call or an operator over numbers.
pub(crate) fn numbers(random: &mut Random) -> String {
    let mut n = || {
        random.of(&[
            "0",
            "1",
            "-1",
            "2.5",
            "-2.5",
            "0.001",
            "-7",
            "10",
            "3.7::float8",
            "-0.5::float8",
            "1e10::float8",
            "NULL",
            "100",
            "7::smallint",
            "9223372036854775807",
            "12345.678",
            "-2147483648",
            "0.5::real",
        ])
    };
    let (x, y, z) = (n(), n(), n());
    match random.below(24) {
        0 => format!("round({x}), round({y}), round({z}::numeric, -1)"),
        1 => format!("ceil({x}), floor({y}), trunc({z})"),
        2 => format!("mod({x}, {y})"),
        3 => format!("div({x}, {y})"),
        4 => format!("round(power({x}, {y})::numeric, 6)"),
        5 => format!("sqrt({x})"),
        6 => format!("round(ln({x})::numeric, 6)"),
        7 => format!("round(log({x})::numeric, 6)"),
        8 => format!("round(log({x}::numeric, {y}::numeric), 6)"),
        9 => format!("sign({x}), abs({y}), - ({z})"),
        10 => format!("gcd({x}, {y}), lcm({y}, {z})"),
        11 => format!("width_bucket({x}, {y}, {z}, 4)"),
        12 => format!("scale({x}::numeric), min_scale({y}::numeric), trim_scale({z}::numeric)"),
        13 => format!("factorial({x}::bigint)"),
        14 => format!(
            "to_char({x}, '{}')",
            random.of(&["999D99", "S99", "99PR", "MI9.9", "0000", "FM999.990", "9.99EEEE", "RN", "L99", "99th", "9,9"])
        ),
        15 => format!("{x} / {y}"),
        16 => format!("{x} % {y}"),
        17 => format!("{x} * {y} + {z}"),
        18 => format!("{x} ^ 2, |/ 16, @ {y}"),
        19 => format!("pg_typeof({x} + {y}), pg_typeof({y} * {z}), pg_typeof({x} / {z})"),
        20 => format!("round(cbrt({x})::numeric, 6), degrees({y}::float8)::integer"),
        21 => format!("greatest({x}, {y}, {z}), least({z}, {y})"),
        22 => format!("({x})::integer << 3, 5 & ({y})::integer, 6 # 3, ~ ({z})::integer"),
        _ => format!("{x} BETWEEN {y} AND {z}, {x} IN ({y}, {z}), {x} IS DISTINCT FROM {y}"),
    }
}

fn array(random: &mut Random) -> &'static str {
    random.of(&[
        "ARRAY[1, 2, 3]",
        "ARRAY[3, NULL, 1]",
        "'{}'::integer[]",
        "NULL::integer[]",
        "ARRAY[[1, 2], [3, 4]]",
        "ARRAY[2, 2]",
        "ARRAY['a', 'b']",
        "ARRAY[1.5, 2]",
    ])
}

/// A call or an operator over arrays.
pub(crate) fn arrays(random: &mut Random) -> String {
    let (x, y, n) = (array(random), array(random), count(random));
    let element = random.of(&["1", "2", "NULL", "'a'", "1.5", "7::bigint"]);
    match random.below(22) {
        0 => format!("array_append({x}, {element})"),
        1 => format!("array_prepend({element}, {x})"),
        2 => format!("array_cat({x}, {y})"),
        3 => format!("{x} || {y}"),
        4 => format!("{x} || {element}"),
        5 => format!("array_length({x}, {n}), array_ndims({y}), array_dims({x})"),
        6 => format!("array_lower({x}, 1), array_upper({y}, {n}), cardinality({x})"),
        7 => format!("array_position({x}, {element}), array_positions({x}, {element})"),
        8 => format!("array_remove({x}, {element}), array_replace({x}, {element}, NULL)"),
        9 => format!("array_to_string({x}, ',', {}), array_to_string({y}, NULL)", random.of(&["'*'", "NULL"])),
        10 => format!("({x})[{n}], ({y})[2:3], ({x})[:1]"),
        11 => format!("({x})[{n}:{}]", count(random)),
        12 => format!("{x} @> {y}, {x} <@ {y}, {x} && {y}"),
        13 => format!("{x} = {y}, {x} < {y}, {x} IS DISTINCT FROM {y}"),
        14 => format!("{element} = ANY ({x})"),
        15 => format!("{element} <> ALL ({x}), {element} > ANY ({y})"),
        16 => format!("array_fill({element}, ARRAY[{}])", random.of(&["2", "0", "1, 2", "-1"])),
        17 => format!("trim_array({x}, {n})"),
        18 => format!("({x})[1][{n}]"),
        19 => format!("array_agg(v ORDER BY v DESC), max(v), count(*) FROM unnest({x}) AS v"),
        20 => format!("{x}::text[], ({y})::text"),
        _ => format!("ARRAY[{element}, {n}], pg_typeof(ARRAY[{element}, {n}]), pg_typeof({x} || {y})"),
    }
}
