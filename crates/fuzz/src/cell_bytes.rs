//! Arbitrary cells of intervals and arrays decode without a panic, and decoded values encode to the same bytes.

use rowkey::cell_value;
use types::DataType;

/// Decodes `bytes` as cells of columns.
pub fn cell_bytes(bytes: &[u8]) {
    let items = [
        DataType::Boolean,
        DataType::Integer,
        DataType::Double,
        DataType::Numeric(None),
        DataType::Numeric(Some((10, 2))),
        DataType::Text,
        DataType::Timestamp(Some(3)),
        DataType::Interval,
    ];
    round_trip(&DataType::Interval, bytes);
    for item in items {
        for dimensions in 1..=3 {
            if let Some(ty) = DataType::array_of(&item, dimensions) {
                round_trip(&ty, bytes);
            }
        }
    }
}

fn round_trip(ty: &DataType, bytes: &[u8]) {
    let Ok(value) = cell_value::decode(ty, bytes) else { return };
    let mut again = Vec::new();
    assert!(cell_value::encode(ty, &value, &mut again).is_ok(), "a cell of {ty} that does not encode: {bytes:02x?}");
    assert_eq!(again, bytes, "another form of the same {ty}");
}
