//! Which values an assignment keeps, rounds and refuses.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use super::*;

fn number(text: &str) -> Datum {
    Datum::Numeric(Literal::parse(text).unwrap().exact(38).unwrap())
}

#[test]
fn integers_widen_and_narrow_within_their_range() {
    assert_eq!(assign(&DataType::BigInt, Datum::Int2(-5)), Ok(Datum::Int8(-5)));
    assert!(matches!(assign(&DataType::SmallInt, Datum::Int4(-5)), Ok(Datum::Int2(-5))));
    let error = assign(&DataType::SmallInt, Datum::Int8(40_000)).unwrap_err();
    assert_eq!(error.to_string(), "smallint out of range");
}

#[test]
fn numeric_rounds_halves_away_and_floats_to_even() {
    for (text, want) in [("2.5", 3), ("-2.5", -3), ("3.5", 4), ("2.49", 2)] {
        assert_eq!(assign(&DataType::Integer, number(text)), Ok(Datum::Int4(want)), "{text}");
    }
    for (float, want) in [(2.5, 2), (-2.5, -2), (3.5, 4), (-0.4, 0)] {
        assert_eq!(assign(&DataType::Integer, Datum::Float8(float)), Ok(Datum::Int4(want)), "{float}");
    }
    for bad in [f64::NAN, f64::INFINITY, 1e300, 2_147_483_647.5] {
        assert!(assign(&DataType::Integer, Datum::Float8(bad)).is_err(), "{bad}");
    }
    assert!(assign(&DataType::BigInt, number("9223372036854775807.5")).is_err());
}

#[test]
fn numeric_columns_round_to_their_scale_and_free_ones_never() {
    let money = DataType::Numeric(Some((5, 2)));
    assert_eq!(assign(&money, number("1.005")).unwrap().to_string(), "1.01");
    assert_eq!(assign(&money, Datum::Int4(7)).unwrap().to_string(), "7.00");
    assert!(matches!(
        assign(&money, Datum::Int4(1000)),
        Err(TypeError::NumericOverflow { precision: 5, scale: 2, .. })
    ));
    assert_eq!(assign(&DataType::Numeric(None), Datum::Float8(0.1)).unwrap().to_string(), "0.1");
    assert_eq!(assign(&DataType::Numeric(None), Datum::Float4(0.1)).unwrap().to_string(), "0.1");
    assert!(assign(&DataType::Numeric(None), number("1e-21")).is_err());
    assert!(assign(&DataType::Numeric(None), Datum::Float8(f64::NAN)).is_err());
}

#[test]
fn floats_that_overflow_or_vanish_are_errors() {
    assert_eq!(assign(&DataType::Real, Datum::Float8(0.5)), Ok(Datum::Float4(0.5)));
    assert_eq!(assign(&DataType::Real, Datum::Float8(f64::INFINITY)), Ok(Datum::Float4(f32::INFINITY)));
    assert!(assign(&DataType::Real, Datum::Float8(1e39)).is_err());
    assert!(assign(&DataType::Real, Datum::Float8(1e-60)).is_err());
    assert_eq!(assign(&DataType::Double, Datum::Int8(3)), Ok(Datum::Float8(3.0)));
}

#[test]
fn a_cast_cuts_where_an_assignment_refuses() {
    let text = || Datum::Text("abcd".into());
    assert!(assign(&DataType::Varchar(Some(2)), text()).is_err());
    assert_eq!(cast(&DataType::Varchar(Some(2)), text()), Ok(Datum::Text("ab".into())));
    assert_eq!(cast(&DataType::Char(3), Datum::Text("a bc".into())), Ok(Datum::Text("a b".into())));
    assert_eq!(cast(&DataType::Varbinary(1), Datum::Bytes(vec![1, 2])), Ok(Datum::Bytes(vec![1])));
}

#[test]
fn text_goes_nowhere_but_everything_goes_to_text() {
    assert!(matches!(assign(&DataType::Integer, Datum::Text("1".into())), Err(TypeError::NoCast { .. })));
    assert!(matches!(assign(&DataType::Boolean, Datum::Int4(1)), Err(TypeError::NoCast { .. })));
    assert_eq!(assign(&DataType::Text, Datum::Bool(true)), Ok(Datum::Text("true".into())));
    assert_eq!(assign(&DataType::Varchar(Some(3)), Datum::Int4(-42)), Ok(Datum::Text("-42".into())));
    assert!(assign(&DataType::Varchar(Some(2)), Datum::Int4(-42)).is_err());
}

#[test]
fn dates_and_timestamps_convert_with_their_infinities() {
    assert_eq!(assign(&DataType::Timestamp(None), Datum::Date(1)), Ok(Datum::Timestamp(DAY)));
    assert_eq!(assign(&DataType::Timestamp(None), Datum::Date(i32::MAX)), Ok(Datum::Timestamp(i64::MAX)));
    assert_eq!(assign(&DataType::Date, Datum::Timestamp(-1)), Ok(Datum::Date(-1)));
    assert_eq!(assign(&DataType::Time(None), Datum::Timestamp(-1)), Ok(Datum::Time(DAY - 1)));
    assert!(assign(&DataType::Timestamp(None), Datum::Date(temporal::MAX_DATE)).is_err());
    assert_eq!(assign(&DataType::Time(None), Datum::Timestamp(i64::MAX)), Ok(Datum::Null));
    assert!(assign(&DataType::Time(None), Datum::Time(DAY + 1)).is_err());
}
