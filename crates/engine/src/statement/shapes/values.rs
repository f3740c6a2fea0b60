//! Literals as the values of parameters.

use builtins::TimeZone;
use sql::{LiteralValue, Shape};
use types::{DataType, Datum, text};

/// The values of parameters that replace these literals; `None` if the binder must interpret or reject a literal.
pub(super) fn read(literals: &[usize], shape: &Shape, types: &[DataType], zone: &TimeZone) -> Option<Vec<Datum>> {
    if literals.len() != types.len() {
        return None;
    }
    let value = |(at, ty): (&usize, &DataType)| match &shape.literals.get(*at)?.value {
        LiteralValue::Int4(value) => Some(Datum::Int4(*value)),
        LiteralValue::Int8(value) => Some(Datum::Int8(*value)),
        LiteralValue::Text(written) => string(written, ty, zone),
    };
    literals.iter().zip(types).map(value).collect()
}

/// Converts a string with the input function of its type. Left to the binder: `now` and similar strings, which depend
/// on the clock, and char(n), whose trailing blanks are insignificant.
fn string(written: &str, ty: &DataType, zone: &TimeZone) -> Option<Datum> {
    match ty {
        DataType::Text | DataType::Varchar(_) => Some(Datum::Text(written.to_owned())),
        DataType::Boolean
        | DataType::SmallInt
        | DataType::Integer
        | DataType::BigInt
        | DataType::Numeric(_)
        | DataType::Uuid
        | DataType::Date
        | DataType::Timestamp(_)
        | DataType::TimestampTz(_) => {
            let is_plain = written.starts_with(|c: char| c.is_ascii_hexdigit() || matches!(c, '-' | '+' | 't'));
            let read = || text::parse_in(&ty.unlimited(), written, zone).ok();
            let names_the_clock = matches!(ty, DataType::Date | DataType::Timestamp(_) | DataType::TimestampTz(_))
                && !written.starts_with(|c: char| c.is_ascii_digit());
            if is_plain && !names_the_clock { read() } else { None }
        }
        _ => None,
    }
}
