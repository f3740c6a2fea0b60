//! The text format: what `types::text` prints, times in the session's zone.

use bytes::{BufMut, BytesMut};
use engine::TimeZone;
use types::array::print_array_by;
use types::{DataType, Datum, ElementType, temporal};

/// What printing needs, so that a row needs no string of its own.
pub(crate) struct Printer {
    /// Where times with a zone are shown.
    zone: TimeZone,
    scratch: String,
}

impl Printer {
    pub(crate) fn new(zone: TimeZone) -> Self {
        Self { zone, scratch: String::new() }
    }

    /// Appends `value` as PostgreSQL prints it.
    pub(super) fn put(&mut self, ty: &DataType, value: &Datum, out: &mut BytesMut) {
        self.scratch.clear();
        match (ty, value) {
            (DataType::Text | DataType::Varchar(_), Datum::Text(text)) => return out.put_slice(text.as_bytes()),
            (_, Datum::TimestampTz(micros)) => {
                temporal::print_timestamptz(*micros, self.zone.offset_at(*micros), &mut self.scratch);
            }
            (DataType::Array(ElementType::TimestampTz), Datum::Array(items)) => {
                let zone = self.zone;
                let mut print = |item: &Datum, out: &mut String| match item {
                    Datum::TimestampTz(micros) => temporal::print_timestamptz(*micros, zone.offset_at(*micros), out),
                    other => types::text::print(&DataType::TimestampTz, other, out),
                };
                print_array_by(items, &mut print, &mut self.scratch);
            }
            _ => types::text::print(ty, value, &mut self.scratch),
        }
        out.put_slice(self.scratch.as_bytes());
    }
}
