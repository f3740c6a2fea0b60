//! Bytes from anywhere: an error or a value, never a panic, and never a value that would be written differently.

use crate::values;
use proptest::prelude::*;
use rowkey::range::{ByteRange, describe};
use rowkey::{KeyError, KeyPart, KeySchema, cell_value};
use types::{DataType, Datum};

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![proptest::sample::select(vec![0_u8, 1, 2, 3, 0x40, 0x80, 0xFE, 0xFF]), any::<u8>()];
    proptest::collection::vec(byte, 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, ..ProptestConfig::default() })]

    #[test]
    fn what_reads_as_a_key_is_that_key(
        parts in proptest::collection::vec(values::key_part(), 1..4),
        salt_buckets in proptest::option::of(2_u16..=256),
        key in bytes(),
    ) {
        let schema = KeySchema { parts, salt_buckets };
        let mut slots = Vec::new();
        let split = schema.split(&key, &mut slots);
        if let Ok(row) = schema.decode(&key) {
            prop_assert!(split.is_ok());
            let mut again = Vec::new();
            // Text read from a char(n) may be one that the codec would have trimmed.
            if schema.encode(&row, &mut again).is_ok() && !schema.parts.iter().any(|part| matches!(part.ty, DataType::Char(_))) {
                prop_assert_eq!(schema.unsalted(&again), schema.unsalted(&key));
            }
        }
        let _ = schema.part_bytes(&key, 2);
        let _ = describe(&schema, &ByteRange { start: key.clone(), end: None });
        let _ = describe(&schema, &ByteRange { start: Vec::new(), end: Some(key) });
    }

    #[test]
    fn what_reads_as_a_cell_is_that_cell(ty in values::data_type(), cell in bytes()) {
        if let Ok(value) = cell_value::decode(&ty, &cell) {
            let mut again = Vec::new();
            cell_value::encode(&ty, &value, &mut again).unwrap();
            prop_assert!(again == cell || matches!(ty, DataType::Char(_)));
        }
    }

    #[test]
    fn a_key_cut_anywhere_is_an_error(
        (part, value) in values::key_part().prop_flat_map(|part| (Just(part), values::part_value(&part)))
    ) {
        let schema = KeySchema::new(vec![part, KeyPart::ascending(DataType::Integer)]);
        let mut key = Vec::new();
        schema.encode(&[value, Datum::Int4(7)], &mut key).unwrap();
        while key.pop().is_some() {
            prop_assert!(schema.decode(&key).is_err(), "{:02X?}", key);
            prop_assert!(schema.split(&key, &mut Vec::new()).is_err());
        }
    }
}

#[test]
fn errors_say_where_and_what() {
    let nullable = KeyPart { nullable: true, ..KeyPart::ascending(DataType::Text) };
    let schema = KeySchema::new(vec![KeyPart::ascending(DataType::SmallInt), nullable]);
    for (key, want) in [
        (&[0x80][..], KeyError::Truncated { offset: 1 }),
        (&[0x80, 0x00], KeyError::Truncated { offset: 2 }),
        (&[0x80, 0x00, 0x07], KeyError::BadNullMark { offset: 2, mark: 7 }),
        (&[0x80, 0x00, 0x02, 0x61], KeyError::Truncated { offset: 4 }),
        (&[0x80, 0x00, 0x02, 0x61, 0x00, 0x05], KeyError::BadEscape { offset: 4, mark: 5 }),
        (&[0x80, 0x00, 0x03, 0x00], KeyError::TrailingBytes { offset: 3 }),
        (&[0x80, 0x00, 0x02, 0xFF, 0x00, 0x01], KeyError::BadValue { offset: 2, ty: "text".into() }),
    ] {
        assert_eq!(schema.decode(key), Err(want), "{key:02X?}");
    }
    let error = cell_value::decode(&DataType::Integer, &[1]).unwrap_err();
    assert_eq!(error.to_string(), "a cell of type integer has 1 bytes, expected 4");
}
