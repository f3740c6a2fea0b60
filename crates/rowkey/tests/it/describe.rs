//! Ranges as printed by EXPLAIN.

use rowkey::range::{ByteRange, describe};
use rowkey::{KeyPart, KeySchema};
use types::{DataType, Datum};

fn schema() -> KeySchema {
    KeySchema::new(vec![KeyPart::ascending(DataType::Text), KeyPart::descending(DataType::Integer)])
}

fn prefix(values: &[Datum]) -> Vec<u8> {
    let mut bytes = Vec::new();
    schema().encode_prefix(values, &mut bytes).unwrap();
    bytes
}

fn text(value: &str) -> Datum {
    Datum::Text(value.to_owned())
}

#[test]
fn bounds_read_as_values() {
    let range = |start: Vec<u8>, end: Option<Vec<u8>>| describe(&schema(), &ByteRange { start, end });
    let ua = prefix(&[text("UA")]);
    let full = prefix(&[text("UA"), Datum::Int4(7)]);
    assert_eq!(range(Vec::new(), None), "[*]");
    assert_eq!(range(full.clone(), Some([full.as_slice(), &[0]].concat())), "['UA',7]");
    assert_eq!(range(ua.clone(), Some(prefix(&[text("UB")]))), "['UA' .. 'UB')");
    let mut behind = ua.clone();
    *behind.last_mut().unwrap() += 1;
    assert_eq!(range(ua.clone(), Some(behind.clone())), "['UA',*]");
    assert_eq!(range(behind.clone(), None), "('UA' .. *]");
    assert_eq!(range(Vec::new(), Some(behind)), "[* .. 'UA']");
    assert_eq!(range(b"U".to_vec(), Some(b"V".to_vec())), "['U'…]");
}

#[test]
fn odd_bytes_show_as_hex() {
    let range = ByteRange { start: vec![0, 9, 0xFF], end: Some(vec![0xC3]) };
    assert_eq!(describe(&schema(), &range), "[0x0009ff .. 0xc3)");
}
