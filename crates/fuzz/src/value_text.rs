//! Arbitrary text of values: a parsed value can be printed, and the printed text parses to an equal value.

use types::{DataType, compare::compare, text};

/// Parses `bytes` as every type.
pub fn value_text(bytes: &[u8]) {
    let Ok(input) = std::str::from_utf8(bytes) else { return };
    let types = [
        DataType::Boolean,
        DataType::Integer,
        DataType::BigInt,
        DataType::Real,
        DataType::Double,
        DataType::Numeric(None),
        DataType::Numeric(Some((12, 3))),
        DataType::Bytea,
        DataType::Date,
        DataType::Time(None),
        DataType::Timestamp(None),
        DataType::TimestampTz(None),
        DataType::Uuid,
    ];
    for ty in types {
        let Ok(value) = text::parse(&ty, input) else { continue };
        let mut printed = String::new();
        text::print(&ty, &value, &mut printed);
        let again = text::parse(&ty, &printed);
        let equal = again.as_ref().is_ok_and(|again| compare(again, &value).is_eq());
        assert!(equal, "{ty:?}: {input:?} prints {printed:?}, which parses to {again:?}");
    }
}
