//! The bytes of keys compare like the values.

use crate::values;
use proptest::prelude::*;
use rowkey::{KeyPart, KeySchema, cell_value};
use std::cmp::Ordering;
use types::{Datum, compare::compare};

/// SQL's order of a part: NULLs first or last, values ascending or descending.
fn sql_order(part: &KeyPart, a: &Datum, b: &Datum) -> Ordering {
    let nulls = if part.nulls_first { Ordering::Less } else { Ordering::Greater };
    match (a.is_null(), b.is_null()) {
        (true, true) => Ordering::Equal,
        (true, false) => nulls,
        (false, true) => nulls.reverse(),
        (false, false) if part.descending => compare(b, a),
        (false, false) => compare(a, b),
    }
}

fn row_order(schema: &KeySchema, a: &[Datum], b: &[Datum]) -> Ordering {
    let parts = schema.parts.iter().zip(a.iter().zip(b));
    parts.map(|(part, (a, b))| sql_order(part, a, b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

fn encoded(schema: &KeySchema, row: &[Datum]) -> Vec<u8> {
    let mut key = Vec::new();
    schema.encode(row, &mut key).unwrap();
    key
}

/// A schema of one to three parts and two rows, often with equal first parts, so that later parts matter.
fn two_rows() -> impl Strategy<Value = (KeySchema, Vec<Datum>, Vec<Datum>)> {
    proptest::collection::vec(values::key_part(), 1..4).prop_flat_map(|parts| {
        let row = || parts.iter().map(values::part_value).collect::<Vec<_>>();
        (Just(KeySchema::new(parts.clone())), row(), row(), 0..=parts.len()).prop_map(
            |(schema, a, mut b, equal): (KeySchema, Vec<Datum>, Vec<Datum>, usize)| {
                b[..equal].clone_from_slice(&a[..equal]);
                (schema, a, b)
            },
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, ..ProptestConfig::default() })]

    #[test]
    fn keys_sort_as_sql_sorts_their_rows((schema, a, b) in two_rows()) {
        let (key_a, key_b) = (encoded(&schema, &a), encoded(&schema, &b));
        prop_assert_eq!(key_a.cmp(&key_b), row_order(&schema, &a, &b), "{:02X?} {:02X?}", key_a, key_b);
    }

    #[test]
    fn no_key_is_a_prefix_of_another((schema, a, b) in two_rows()) {
        let (key_a, key_b) = (encoded(&schema, &a), encoded(&schema, &b));
        prop_assert!(key_a == key_b || !key_b.starts_with(&key_a));
    }

    #[test]
    fn cells_sort_as_their_values(
        (ty, a, b) in values::data_type().prop_flat_map(|ty| (Just(ty), values::value(ty), values::value(ty)))
    ) {
        let (mut cell_a, mut cell_b) = (Vec::new(), Vec::new());
        cell_value::encode(&ty, &a, &mut cell_a).unwrap();
        cell_value::encode(&ty, &b, &mut cell_b).unwrap();
        prop_assert_eq!(cell_a.cmp(&cell_b), compare(&a, &b));
        prop_assert!(ty.fixed_width().is_none_or(|width| width == cell_a.len()));
    }

    #[test]
    fn a_row_lies_behind_the_prefix_of_its_first_values((schema, row, _) in two_rows(), cut in 0_usize..4) {
        let mut prefix = Vec::new();
        schema.encode_prefix(&row[..cut.min(row.len())], &mut prefix).unwrap();
        prop_assert!(encoded(&schema, &row).starts_with(&prefix));
    }
}

#[test]
fn values_that_sql_calls_equal_have_one_key() {
    use types::{DataType, Decimal};
    let numeric = |unscaled, scale| Datum::Numeric(Decimal { unscaled, scale });
    for (ty, a, b) in [
        (DataType::Double, Datum::Float8(-0.0), Datum::Float8(0.0)),
        (DataType::Double, Datum::Float8(f64::NAN), Datum::Float8(-f64::NAN)),
        (DataType::Real, Datum::Float4(-0.0), Datum::Float4(0.0)),
        (DataType::Numeric(None), numeric(1, 0), numeric(100, 2)),
        (DataType::Numeric(None), numeric(-150, 2), numeric(-15, 1)),
        (DataType::Numeric(Some((5, 2))), numeric(1, 0), numeric(100, 2)),
        (DataType::Char(4), Datum::Text("a".into()), Datum::Text("a  ".into())),
    ] {
        let schema = KeySchema::new(vec![KeyPart::ascending(ty)]);
        assert_eq!(encoded(&schema, &[a]), encoded(&schema, &[b]), "{ty}");
    }
}
