//! The text of a value parses as that value, and no text makes the parser panic.

use crate::values;
use proptest::prelude::*;
use types::{DataType, Datum, ident, temporal, text};

/// Equal in all bits and digits, while `==` takes -0.0 for 0.0 and 1.0 for 1.00.
fn identical(a: &Datum, b: &Datum) -> bool {
    match (a, b) {
        (Datum::Float4(a), Datum::Float4(b)) => a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
        (Datum::Float8(a), Datum::Float8(b)) => a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
        (Datum::Numeric(a), Datum::Numeric(b)) => a.unscaled == b.unscaled && a.scale == b.scale,
        _ => a == b && a.kind_name() == b.kind_name(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8192, ..ProptestConfig::default() })]

    #[test]
    fn every_value_reads_as_it_prints(
        (ty, value) in values::data_type().prop_flat_map(|ty| (Just(ty), values::value(ty)))
    ) {
        let mut printed = String::new();
        text::print(&ty, &value, &mut printed);
        let read = text::parse(&ty, &printed);
        prop_assert!(read.as_ref().is_ok_and(|read| identical(read, &value)), "{} {:?} {}: {:?}", ty, value, printed, read);
    }

    #[test]
    fn any_text_is_a_value_or_an_error(ty in values::data_type(), input in "[-+0-9:. TZzeEBCinf/\\\\x]{0,24}") {
        if let Ok(value) = text::parse(&ty, &input) {
            let mut printed = String::new();
            text::print(&ty, &value, &mut printed);
            prop_assert!(text::parse(&ty, &printed).is_ok_and(|again| identical(&again, &value)), "{:?}", value);
        }
    }

    #[test]
    fn odd_text_is_an_error_and_no_panic(ty in values::data_type(), input in "\\PC{0,12}") {
        let _ = text::parse(&ty, &input);
    }

    #[test]
    fn a_timestamptz_reads_as_it_prints_in_any_zone(micros in -10_i64.pow(15)..10_i64.pow(15), offset in -57_599..57_599) {
        let mut printed = String::new();
        temporal::print_timestamptz(micros, offset, &mut printed);
        prop_assert_eq!(text::parse(&DataType::TimestampTz(None), &printed), Ok(Datum::TimestampTz(micros)), "{}", printed);
    }

    #[test]
    fn a_quoted_name_is_one_token(name in "[a-zA-Z_\"0-9 ä]{1,8}") {
        let quoted = ident::quote(&name);
        let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        match inner {
            Some(inner) => prop_assert_eq!(inner.replace("\"\"", "\""), name),
            None => prop_assert_eq!(ident::fold(&quoted), name),
        }
    }
}
