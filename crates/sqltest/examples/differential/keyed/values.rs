//! Types of values, and few distinct values of each, so that joins find matches.

use super::Maker;

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Int,
    Num,
    Float,
    Text,
    Date,
    Stamp,
    Zoned,
    Bytes,
    Ints,
    Texts,
    Bool,
}

pub(crate) const KINDS: [Kind; 11] = [
    Kind::Int,
    Kind::Num,
    Kind::Float,
    Kind::Text,
    Kind::Date,
    Kind::Stamp,
    Kind::Zoned,
    Kind::Bytes,
    Kind::Ints,
    Kind::Texts,
    Kind::Bool,
];

impl Kind {
    pub(crate) fn any(maker: &mut Maker) -> Self {
        KINDS[maker.below(KINDS.len())]
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Int => "integer",
            Self::Num => "numeric",
            Self::Float => "float8",
            Self::Text => "text",
            Self::Date => "date",
            Self::Stamp => "timestamp",
            Self::Zoned => "timestamptz",
            Self::Bytes => "bytea",
            Self::Ints => "integer[]",
            Self::Texts => "text[]",
            Self::Bool => "boolean",
        }
    }
}

/// A literal without a type: a number, a word, or a text whose type the context gives.
pub(crate) fn value(kind: Kind, maker: &mut Maker) -> String {
    let text = match kind {
        Kind::Int => return (maker.below(9) as i64 - 2).to_string(),
        Kind::Num => return maker.of(&["0", "0.5", "1.25", "-3.75", "100.00", "2", "7.005", "-0.01"]).to_owned(),
        Kind::Bool => return maker.of(&["true", "false"]).to_owned(),
        Kind::Float => maker.of(&["0", "-1.5", "0.25", "3", "1e10", "-2.75"]),
        Kind::Text => maker.of(&["", "a", "ab", "B", "b", "foo", "Foo bar", "x%y", "é", "a_b"]),
        Kind::Date => maker.of(&["2024-01-31", "2024-02-29", "2024-03-31", "1999-12-31", "2024-10-27", "0001-01-01"]),
        Kind::Stamp => maker.of(&[
            "2024-01-31 00:00:00",
            "2024-02-29 23:59:59.999999",
            "2024-03-31 02:30:00",
            "1999-12-31 12:00:00",
            "2024-10-27 02:30:00",
        ]),
        Kind::Zoned => maker.of(&[
            "2024-01-31 00:00:00+00",
            "2024-02-29 23:59:59.5+00",
            "2024-03-31 00:30:00+00",
            "2024-03-31 01:30:00+00",
            "2024-10-27 00:30:00+00",
            "2024-10-27 01:30:00+00",
            "1999-12-31 12:00:00+05:30",
        ]),
        Kind::Bytes => maker.of(&["\\x", "\\x00", "\\x0001", "\\xff", "\\xff00", "\\x61", "\\x6162"]),
        Kind::Ints => maker.of(&["{}", "{1}", "{1,2}", "{1,NULL}", "{2,1}", "{3,3,3}"]),
        Kind::Texts => maker.of(&["{}", "{a}", "{a,NULL}", "{\"a,b\",c}", "{\"\"}", "{b,a}"]),
    };
    format!("'{text}'")
}

/// A constant with its type.
pub(crate) fn constant(kind: Kind, maker: &mut Maker) -> String {
    let value = value(kind, maker);
    match kind {
        Kind::Int | Kind::Num | Kind::Bool => value,
        _ => format!("{value}::{}", kind.name()),
    }
}
