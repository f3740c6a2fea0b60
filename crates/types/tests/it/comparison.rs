//! The order of values is total, and agrees with equality and hashes.

use crate::values;
use proptest::prelude::*;
use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hash, Hasher};
use types::{Datum, Decimal, compare::compare};

fn hash(value: &Datum) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, ..ProptestConfig::default() })]

    #[test]
    fn the_order_is_total(
        (a, b, c) in values::data_type().prop_flat_map(|ty| (values::value(ty), values::value(ty), values::value(ty)))
    ) {
        prop_assert_eq!(compare(&a, &a), Ordering::Equal);
        prop_assert_eq!(compare(&a, &b), compare(&b, &a).reverse());
        if compare(&a, &b).is_le() && compare(&b, &c).is_le() {
            prop_assert!(compare(&a, &c).is_le());
        }
        if a == b {
            prop_assert_eq!(hash(&a), hash(&b));
        }
    }

    #[test]
    fn decimals_compare_as_their_exact_values(n in -10_i64.pow(17)..10_i64.pow(17), s in 0_u8..19, m in -10_i64.pow(17)..10_i64.pow(17), t in 0_u8..19) {
        let (a, b) = (Decimal { unscaled: n.into(), scale: s }, Decimal { unscaled: m.into(), scale: t });
        let common = |value: Decimal| value.unscaled * 10_i128.pow(u32::from(18 - value.scale));
        prop_assert_eq!(a.cmp(&b), common(a).cmp(&common(b)));
    }

    #[test]
    fn equal_decimals_hash_equally(n in any::<i32>(), s in 0_u8..10, zeros in 0_u8..10) {
        let plain = Decimal { unscaled: n.into(), scale: s };
        let longer = plain.rescale(s + zeros).unwrap();
        prop_assert_eq!(plain, longer);
        prop_assert_eq!(hash(&Datum::Numeric(plain)), hash(&Datum::Numeric(longer)));
    }
}
