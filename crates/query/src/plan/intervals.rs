//! Intervals of some fields: `INTERVAL '5:06' MINUTE TO SECOND`, `x::interval(2)`.

use super::rewrite::call;
use super::rewrite_expr::{cast, quoted};
use sql::ast::{DataType, DateTimeField, Expr, Interval, IntervalFields as Named, UnaryOperator, Value};
use types::IntervalField as Field;
use types::IntervalFields as Fields;

/// `INTERVAL '90' DAY` is `'90 days'::interval`.
pub(super) fn literal(interval: Interval) -> Expr {
    let Interval { value, leading_field, leading_precision, last_field, fractional_seconds_precision } = interval;
    let text = match value.as_ref() {
        Expr::Value(text) => match &text.value {
            Value::SingleQuotedString(text) => text.clone(),
            Value::Number(number, _) => number.clone(),
            other => other.to_string().trim_matches('\'').to_owned(),
        },
        other => other.to_string(),
    };
    let first = leading_field.as_ref().and_then(field);
    let bounds = first.map(|first| (first, last_field.as_ref().and_then(field).unwrap_or(first)));
    let digits = fractional_seconds_precision.or(leading_precision);
    of_text(&text, Fields { bounds, digits: digits.map(at_most_six) })
}

/// A cast to an interval of some fields.
pub(super) fn limited(value: Expr, fields: Option<Named>, precision: Option<u64>) -> Expr {
    let limits = Fields { bounds: fields.map(bounds), digits: precision.map(at_most_six) };
    if let Expr::Value(text) = &value
        && let Value::SingleQuotedString(text) = &text.value
    {
        return of_text(text, limits);
    }
    let code = limits.bounds.map_or(-1, |(first, last)| code(first) * 10 + code(last));
    let digits = limits.digits.map_or(-1, i32::from);
    call("limit interval", vec![plain(value), number(code), number(digits)])
}

/// More digits than six are six, as in PostgreSQL, which warns.
fn at_most_six(digits: u64) -> u8 {
    u8::try_from(digits).unwrap_or(6).min(6)
}

/// The constant, or the text as it is where it is none: reading it gives the error.
fn of_text(text: &str, fields: Fields) -> Expr {
    if fields == Fields::default() {
        return plain(quoted(text));
    }
    let Ok(value) = types::parse_interval_of(text, fields) else { return plain(quoted(text)) };
    let mut shown = String::new();
    types::print_interval(value, &mut shown);
    plain(quoted(&shown))
}

fn plain(value: Expr) -> Expr {
    cast(value, DataType::Interval { fields: None, precision: None })
}

fn number(value: i32) -> Expr {
    let digits = Expr::value(Value::Number(value.unsigned_abs().to_string(), false));
    if value < 0 { Expr::UnaryOp { op: UnaryOperator::Minus, expr: Box::new(digits) } } else { digits }
}

fn field(field: &DateTimeField) -> Option<Field> {
    Some(match field {
        DateTimeField::Year | DateTimeField::Years => Field::Year,
        DateTimeField::Month | DateTimeField::Months => Field::Month,
        DateTimeField::Day | DateTimeField::Days => Field::Day,
        DateTimeField::Hour | DateTimeField::Hours => Field::Hour,
        DateTimeField::Minute | DateTimeField::Minutes => Field::Minute,
        DateTimeField::Second | DateTimeField::Seconds => Field::Second,
        _ => return None,
    })
}

fn bounds(fields: Named) -> (Field, Field) {
    match fields {
        Named::Year => (Field::Year, Field::Year),
        Named::Month => (Field::Month, Field::Month),
        Named::Day => (Field::Day, Field::Day),
        Named::Hour => (Field::Hour, Field::Hour),
        Named::Minute => (Field::Minute, Field::Minute),
        Named::Second => (Field::Second, Field::Second),
        Named::YearToMonth => (Field::Year, Field::Month),
        Named::DayToHour => (Field::Day, Field::Hour),
        Named::DayToMinute => (Field::Day, Field::Minute),
        Named::DayToSecond => (Field::Day, Field::Second),
        Named::HourToMinute => (Field::Hour, Field::Minute),
        Named::HourToSecond => (Field::Hour, Field::Second),
        Named::MinuteToSecond => (Field::Minute, Field::Second),
    }
}

const ALL: [Field; 6] = [Field::Year, Field::Month, Field::Day, Field::Hour, Field::Minute, Field::Second];

fn code(field: Field) -> i32 {
    ALL.iter().position(|known| *known == field).and_then(|at| i32::try_from(at).ok()).unwrap_or(0)
}
