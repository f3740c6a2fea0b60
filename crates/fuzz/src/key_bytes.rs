//! Rowkeys from anywhere: decoded without a panic, and what decodes encodes to the same bytes.

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
    // Several bytes may decode to one value (a NaN, say), never the other way round.
    if schema.encode(&values, &mut again).is_ok() {
        assert!(schema.decode(&again).is_ok(), "an encoded key does not decode: {again:02x?}");
    }
}
