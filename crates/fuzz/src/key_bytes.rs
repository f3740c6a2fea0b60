//! Arbitrary rowkeys decode without a panic, and re-encoded values decode again.

use rowkey::{KeyPart, KeySchema};
use types::DataType;

/// Decodes `bytes` by key schemas of all types.
pub fn key_bytes(bytes: &[u8]) {
    let types = [
        DataType::Boolean,
        DataType::SmallInt,
        DataType::BigInt,
        DataType::Double,
        DataType::Numeric(None),
        DataType::Numeric(Some((10, 2))),
        DataType::Text,
        DataType::Bytea,
        DataType::Timestamp(None),
        DataType::Uuid,
    ];
    for ty in types {
        for part in [KeyPart::ascending(ty), KeyPart::descending(ty)] {
            round_trip(&KeySchema::new(vec![part]), bytes);
            round_trip(&KeySchema::new(vec![KeyPart::ascending(DataType::Text), part]), bytes);
        }
    }
}

fn round_trip(schema: &KeySchema, bytes: &[u8]) {
    let Ok(values) = schema.decode(bytes) else { return };
    let mut again = Vec::new();
    // Several encodings may decode to one value (NaN, for example), but a value has one encoding.
    if schema.encode(&values, &mut again).is_ok() {
        assert!(schema.decode(&again).is_ok(), "an encoded key does not decode: {again:02x?}");
    }
}
