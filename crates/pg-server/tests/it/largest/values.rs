//! The largest values of each type, as SQL.

/// Bytes of the long texts: a quadratic algorithm takes many minutes, a linear one a moment.
const LONG: usize = 1_000_000;
/// Items of the long arrays.
const ITEMS: usize = 100_000;

/// Shape of the values: an input that is cheap in one shape is expensive in another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// All equal, so that everything matches.
    Alike,
    /// All arguments of a call differ, and the second is almost contained in the first.
    Near,
    /// Texts with many parts, numbers with many digits.
    Parts,
}

pub(super) const SHAPES: [Shape; 3] = [Shape::Alike, Shape::Near, Shape::Parts];

fn text(shape: Shape, place: usize) -> String {
    match (shape, place) {
        (Shape::Alike, _) => format!("repeat('a', {LONG})"),
        (Shape::Near, 0) => format!("repeat('a', {LONG})"),
        (Shape::Near, place) => format!("repeat('a', {}) || 'b'", (LONG / 2) >> place),
        (Shape::Parts, 0) => format!("'[' || repeat('1,', {}) || '1]'", LONG / 2),
        (Shape::Parts, 1) => format!("repeat('(1|,)*', {})", LONG / 6),
        (Shape::Parts, _) => format!("repeat('%s1,', {})", LONG / 4),
    }
}

fn integer(shape: Shape, most: i64) -> String {
    match shape {
        Shape::Alike => most.to_string(),
        Shape::Near => (-most).to_string(),
        Shape::Parts => most.min(1_000_000).to_string(),
    }
}

fn numeric(shape: Shape) -> String {
    match shape {
        Shape::Alike => "repeat('9', 130000)::numeric".to_string(),
        Shape::Near => "('0.' || repeat('0', 16000) || '7')::numeric".to_string(),
        Shape::Parts => "(repeat('7', 1000) || '.' || repeat('7', 1000))::numeric".to_string(),
    }
}

fn float(shape: Shape) -> String {
    let value = match shape {
        Shape::Alike => "1e308",
        Shape::Near => "-1e-307",
        Shape::Parts => "12345678901234567890",
    };
    format!("{value}::float8")
}

/// The largest value of a type for argument `place`. `None` for a type without literals.
pub(super) fn largest(ty: &str, shape: Shape, place: usize) -> Option<String> {
    if let Some(item) = ty.strip_suffix("[]") {
        let item = if matches!(shape, Shape::Parts) { format!("'1'::{item}") } else { scalar(item, Shape::Parts, 9)? };
        // Fewer items if the items are long.
        let count = if item.contains("repeat") { 50 } else { ITEMS };
        return Some(format!("array_fill({item}, ARRAY[{count}])"));
    }
    scalar(ty, shape, place)
}

fn scalar(ty: &str, shape: Shape, place: usize) -> Option<String> {
    let plain = |value: &str| Some(format!("{ty} '{value}'"));
    match ty {
        "text" | "character varying" | "character" | "name" | "\"char\"" | "unknown" => Some(text(shape, place)),
        "json" | "jsonb" => Some(format!("('[' || repeat('[1],', {}) || '1]')::{ty}", LONG / 4)),
        "bytea" => Some(format!("({})::bytea", text(shape, place))),
        "smallint" => Some(format!("({})::smallint", integer(shape, 32_767))),
        "integer" | "oid" => Some(format!("({})::{ty}", integer(shape, i64::from(i32::MAX)))),
        "bigint" => Some(format!("({})::bigint", integer(shape, i64::MAX))),
        "numeric" => Some(numeric(shape)),
        "real" => Some("1e38::real".to_string()),
        "double precision" => Some(float(shape)),
        "boolean" => Some("true".to_string()),
        "date" => plain(if place == 0 { "4713-01-01 BC" } else { "9999-12-31" }),
        "timestamp without time zone" | "timestamp with time zone" => {
            plain(if place == 0 { "4713-01-01 BC" } else { "9999-12-31" })
        }
        "time without time zone" | "time with time zone" => plain("23:59:59.999999"),
        "interval" => plain(if place == 2 { "1 microsecond" } else { "170000000 years" }),
        "uuid" => plain("ffffffff-ffff-ffff-ffff-ffffffffffff"),
        "\"any\"" | "anyelement" | "anynonarray" | "anycompatible" | "anycompatiblenonarray" => {
            Some(if shape == Shape::Parts { "1".to_string() } else { text(shape, place) })
        }
        "anyarray" | "anycompatiblearray" if shape == Shape::Parts => Some(format!("array_fill(1, ARRAY[{ITEMS}])")),
        "anyarray" | "anycompatiblearray" => Some(format!("array_fill({}, ARRAY[50])", text(shape, place))),
        "cstring" | "internal" | "record" | "trigger" | "void" => None,
        other => Some(format!("1::{other}")),
    }
}
