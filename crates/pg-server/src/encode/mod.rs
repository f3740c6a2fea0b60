//! Encodes values for the wire and decodes parameters: the text format and Arrow columns. The engine has the binary
//! format, because COPY uses it too.

mod columns;
mod parameter;
mod text;

pub(crate) use columns::ColumnReader;
pub(crate) use parameter::{BadParameter, decode_parameter};
pub(crate) use text::Printer;

use bytes::BufMut;
use engine::binary;
use types::{DataType, Datum};

/// Appends one field: its length and its bytes, or -1 for NULL.
pub(crate) fn put_field(ty: &DataType, value: &Datum, binary: bool, printer: &mut Printer, out: &mut Vec<u8>) {
    match value {
        Datum::Null => return out.put_i32(-1),
        Datum::Int2(value) if !binary => return text::put_integer_field((*value).into(), out),
        Datum::Int4(value) if !binary => return text::put_integer_field((*value).into(), out),
        Datum::Int8(value) if !binary => return text::put_integer_field(*value, out),
        _ => {}
    }
    let start = out.len();
    out.put_i32(0);
    if binary {
        binary::put(ty, value, out);
    } else {
        printer.put(ty, value, out);
    }
    let length = (out.len() - start - 4) as u32;
    if let Some(field) = out.get_mut(start..start + 4) {
        field.copy_from_slice(&length.to_be_bytes());
    }
}

/// Appends one field given as bytes (text in both formats, `bytea` in binary).
pub(crate) fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    out.put_u32(bytes.len() as u32);
    out.extend_from_slice(bytes);
}
