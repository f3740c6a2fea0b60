//! The text format: what `types::text` prints.

use bytes::{BufMut, BytesMut};
use types::{DataType, Datum};

/// Appends `value` as PostgreSQL prints it. `scratch` is the caller's, so that a row needs no string of its own.
pub(super) fn put(ty: &DataType, value: &Datum, scratch: &mut String, out: &mut BytesMut) {
    match (ty, value) {
        (DataType::Text | DataType::Varchar(_), Datum::Text(text)) => out.put_slice(text.as_bytes()),
        _ => {
            scratch.clear();
            types::text::print(ty, value, scratch);
            out.put_slice(scratch.as_bytes());
        }
    }
}
