//! Encoded values are decoded unchanged, completely and part by part, with and without salt.

use crate::values;
use proptest::prelude::*;
use rowkey::{KeyError, KeyPart, KeySchema, MAX_KEY_BYTES, cell_value, salt_of};
use types::{DataType, Datum};

fn schema_and_row() -> impl Strategy<Value = (KeySchema, Vec<Datum>)> {
    let parts = proptest::collection::vec(values::key_part(), 1..5);
    (parts, proptest::option::of(2_u16..=256)).prop_flat_map(|(parts, salt_buckets)| {
        let row: Vec<_> = parts.iter().map(values::part_value).collect();
        (Just(KeySchema { parts, salt_buckets, salted_by_row: false }), row)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, ..ProptestConfig::default() })]

    #[test]
    fn keys((schema, row) in schema_and_row()) {
        let mut key = vec![9, 9];
        schema.encode(&row, &mut key).unwrap();
        prop_assert_eq!(&schema.decode(&key).unwrap(), &row);
        prop_assert!(schema.salt_of(schema.unsalted(&key)).is_none_or(|salt| key.first() == Some(&salt)));

        let mut slots = Vec::new();
        schema.split(&key, &mut slots).unwrap();
        let mut buffer = Vec::new();
        for (index, part) in schema.parts.iter().enumerate() {
            let (start, end) = slots[index];
            prop_assert_eq!(schema.part_bytes(&key, index).unwrap(), &key[start..end]);
            prop_assert_eq!(&part.decode(&key[start..end], &mut buffer).unwrap(), &row[index]);
            prop_assert_eq!(&schema.decode_part(&key, index, &mut buffer).unwrap(), &row[index]);
            prop_assert!(schema.fixed_offset(index).is_none_or(|offset| offset == start));
            prop_assert!(schema.fixed_slot(index).is_none_or(|slot| slot == (start, end - start)));
        }
        prop_assert!(schema.fixed_len().is_none_or(|len| len == key.len()));
    }

    #[test]
    fn cells((ty, value) in values::column_type().prop_flat_map(|ty| (Just(ty), values::value(ty)))) {
        let mut cell = Vec::new();
        cell_value::encode(&ty, &value, &mut cell).unwrap();
        let again = cell_value::decode(&ty, &cell).unwrap();
        prop_assert_eq!(&again, &value);
        // Equal intervals can have different fields: the encoding shows whether the fields are preserved.
        let mut twice = Vec::new();
        cell_value::encode(&ty, &again, &mut twice).unwrap();
        prop_assert_eq!(&twice, &cell);
        // Also the scale of a numeric(p,s), which equality ignores. (-0 of a float becomes 0.)
        if !ty.item().unwrap_or(ty).is_float() {
            prop_assert_eq!(again.to_string(), value.to_string());
        }
    }

    #[test]
    fn a_part_gives_the_cell_of_its_value(
        (part, value) in values::key_part().prop_flat_map(|part| (Just(part), values::part_value(&part)))
    ) {
        let (mut key, mut cell, mut buffer) = (Vec::new(), Vec::new(), Vec::new());
        KeySchema::new(vec![part]).encode(std::slice::from_ref(&value), &mut key).unwrap();
        let found = part.cell(&key, &mut buffer).unwrap();
        if value.is_null() {
            prop_assert_eq!(found, None);
        } else {
            cell_value::encode(&part.ty, &value, &mut cell).unwrap();
            prop_assert_eq!(found, Some(cell.as_slice()));
        }
    }
}

#[test]
fn parts_behind_a_varying_one_have_no_fixed_offset() {
    let nullable = KeyPart { nullable: true, ..KeyPart::ascending(DataType::Integer) };
    let schema = KeySchema {
        parts: vec![
            KeyPart::ascending(DataType::Integer),
            KeyPart::descending(DataType::Uuid),
            nullable,
            KeyPart::ascending(DataType::BigInt),
        ],
        salt_buckets: Some(4),
        salted_by_row: false,
    };
    let offsets: Vec<_> = (0..5).map(|part| schema.fixed_offset(part)).collect();
    assert_eq!(offsets, [Some(1), Some(5), Some(21), None, None]);
    assert_eq!(schema.fixed_len(), None);
    assert_eq!(schema.fixed_slot(2), None);
}

#[test]
fn the_salt_is_a_function_of_the_key_and_fills_all_buckets() {
    let mut hits = [0_u32; 8];
    for n in 0..8000_u32 {
        hits[usize::from(salt_of(&n.to_be_bytes(), 8))] += 1;
    }
    assert!(hits.iter().all(|hit| (800..1200).contains(hit)), "{hits:?}");
    // Frozen: stored tables depend on it.
    assert_eq!([salt_of(b"", 8), salt_of(b"UA", 8), salt_of(b"UA", 256)], [2, 0, 232]);
}

#[test]
fn what_does_not_belong_into_a_key_is_refused() {
    let schema = KeySchema::new(vec![KeyPart::ascending(DataType::Integer), KeyPart::ascending(DataType::Text)]);
    let text = |length| Datum::Text("x".repeat(length));
    let mut key = Vec::new();
    assert_eq!(schema.encode(&[Datum::Int4(1)], &mut key), Err(KeyError::WrongArity { expected: 2, found: 1 }));
    assert_eq!(schema.encode(&[Datum::Int4(1), Datum::Null], &mut key), Err(KeyError::NullPart { part: 1 }));
    assert!(matches!(schema.encode(&[Datum::Int8(1), text(1)], &mut key), Err(KeyError::WrongType { .. })));
    assert!(schema.encode(&[Datum::Int4(1), text(MAX_KEY_BYTES - 6)], &mut key).is_ok());
    assert!(matches!(
        schema.encode(&[Datum::Int4(1), text(MAX_KEY_BYTES - 5)], &mut key),
        Err(KeyError::TooLong { len: 32_768, limit: 32_767 })
    ));
}

#[test]
fn a_numeric_that_its_column_would_round_is_refused() {
    use types::Decimal;
    let ty = DataType::Numeric(Some((5, 2)));
    let encode =
        |unscaled, scale| cell_value::encode(&ty, &Datum::Numeric(Decimal { unscaled, scale }), &mut Vec::new());
    assert!(encode(1005, 3).is_err());
    assert!(encode(100_000, 2).is_err());
    assert!(encode(1000, 3).is_ok() && encode(99_999, 2).is_ok() && encode(-5, 0).is_ok());
}
