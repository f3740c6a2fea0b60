//! Arbitrary bytes give an error or a value, never a panic, and never a value with another encoding.

use crate::values;
use proptest::prelude::*;
use rowkey::range::{ByteRange, describe};
use rowkey::{KeyError, KeyPart, KeySchema, cell_value};
use types::{DataType, Datum, ElementType};

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![proptest::sample::select(vec![0_u8, 1, 2, 3, 0x40, 0x80, 0xFE, 0xFF]), any::<u8>()];
    proptest::collection::vec(byte, 0..40)
}

/// Bytes that sometimes begin like a cell of an array.
fn cells() -> impl Strategy<Value = Vec<u8>> {
    let begin = |dimensions: u8, size: u8| {
        let mut head = vec![1, 0, dimensions];
        (0..dimensions).for_each(|_| head.extend([0, 0, 0, size, 0, 0, 0, 1]));
        head
    };
    let array = (0_u8..3, 1_u8..4, any::<bool>(), bytes()).prop_map(move |(dimensions, size, nulls, rest)| {
        let mut cell = begin(dimensions, size);
        cell[1] = u8::from(nulls);
        cell.extend(rest);
        cell
    });
    prop_oneof![bytes(), array]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, ..ProptestConfig::default() })]

    #[test]
    fn what_reads_as_a_key_is_that_key(
        parts in proptest::collection::vec(values::key_part(), 1..4),
        salt_buckets in proptest::option::of(2_u16..=256),
        key in bytes(),
    ) {
        let schema = KeySchema { parts, salt_buckets, salted_by_row: false };
        let mut slots = Vec::new();
        let split = schema.split(&key, &mut slots);
        if let Ok(row) = schema.decode(&key) {
            prop_assert!(split.is_ok());
            let mut again = Vec::new();
            // Decoded text of a char(n) may have trailing blanks, which the codec would trim.
            if schema.encode(&row, &mut again).is_ok() && !schema.parts.iter().any(|part| matches!(part.ty, DataType::Char(_))) {
                prop_assert_eq!(schema.unsalted(&again), schema.unsalted(&key));
            }
        }
        let _ = schema.part_bytes(&key, 2);
        let _ = describe(&schema, &ByteRange { start: key.clone(), end: None });
        let _ = describe(&schema, &ByteRange { start: Vec::new(), end: Some(key) });
    }

    #[test]
    fn what_reads_as_a_cell_is_that_cell(ty in values::column_type(), cell in cells()) {
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
fn lengths_of_arrays_are_not_trusted() {
    let ty = DataType::Array(ElementType::Text);
    let mut cell = Vec::new();
    let words = vec![Datum::Text("ab".into()), Datum::Null, Datum::Text(String::new())];
    cell_value::encode(&ty, &Datum::Array(words), &mut cell).unwrap();
    for end in 0..cell.len() {
        assert!(cell_value::decode(&ty, &cell[..end]).is_err(), "{end}");
    }
    for (at, byte) in [(0, 2), (1, 3), (2, 7), (2, 0), (3, 0x7F), (6, 0), (10, 2), (11, 0), (11, 0x0A), (12, 0xFF)] {
        let mut broken = cell.clone();
        broken[at] = byte;
        assert!(cell_value::decode(&ty, &broken).is_err(), "{at} {byte}");
    }
    let huge = [&[1, 0, 6][..], &[0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 1].repeat(6)].concat();
    assert!(matches!(cell_value::decode(&ty, &huge), Err(KeyError::BadValue { .. })));
    cell.push(0);
    assert!(cell_value::decode(&ty, &cell).is_err());
}

#[test]
fn arrays_that_are_none_are_refused() {
    let ty = DataType::Array(ElementType::Integer);
    let (one, two) = (Datum::Int4(1), Datum::Int4(2));
    let array = |items: &[&Datum]| Datum::Array(items.iter().map(|item| (*item).clone()).collect());
    for odd in
        [array(&[&array(&[&one]), &array(&[&one, &two])]), array(&[&array(&[&one]), &two]), array(&[&Datum::Int8(1)])]
    {
        assert!(cell_value::encode(&ty, &odd, &mut Vec::new()).is_err(), "{odd:?}");
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
