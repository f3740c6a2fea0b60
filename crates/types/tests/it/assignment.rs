//! An assignment returns a value that the column can hold, or an error.

use crate::values;
use proptest::prelude::*;
use types::{DataType, Datum, Decimal, coerce};

proptest! {
    #![proptest_config(ProptestConfig { cases: 8192, ..ProptestConfig::default() })]

    #[test]
    fn what_a_column_keeps_it_keeps_unchanged(
        (ty, value) in values::data_type().prop_flat_map(|ty| (Just(ty), values::value(ty)))
    ) {
        prop_assert_eq!(coerce::assign(&ty, value.clone()), Ok(value));
    }

    #[test]
    fn assigning_twice_changes_nothing_more(
        (value, to) in (values::data_type(), values::data_type()).prop_flat_map(|(from, to)| (values::value(from), Just(to)))
    ) {
        if let Ok(once) = coerce::assign(&to, value) {
            prop_assert_eq!(coerce::assign(&to, once.clone()), Ok(once));
        }
    }

    #[test]
    fn a_rounded_numeric_is_never_further_than_half_a_unit(n in -10_i64.pow(17)..10_i64.pow(17), from in 0_u8..18, to in 0_u8..18) {
        let value = Decimal { unscaled: n.into(), scale: from };
        let Ok(Datum::Numeric(kept)) = coerce::assign(&DataType::Numeric(Some((38, to))), Datum::Numeric(value)) else {
            return Err(TestCaseError::fail("38 digits are enough"));
        };
        let common = |value: Decimal| value.unscaled * 10_i128.pow(u32::from(18 - value.scale));
        let unit = 10_i128.pow(u32::from(18 - to));
        prop_assert_eq!(kept.scale, to);
        prop_assert!((common(kept) - common(value)).abs() * 2 <= unit);
    }
}
