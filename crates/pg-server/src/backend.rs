//! Backend messages, appended to the connection's buffer and flushed once per Sync.

use bytes::{BufMut, BytesMut};
use engine::{ClientFault, ColumnDesc, EngineError, Notice, TransactionStatus};
use pgwire::messages::copy::{CopyData, CopyDone, CopyInResponse, CopyOutResponse};
use pgwire::messages::data::ParameterDescription;
use pgwire::messages::extendedquery::PortalSuspended;
use pgwire::messages::response::EmptyQueryResponse;
use pgwire::messages::startup::{Authentication, BackendKeyData, SecretKey};
use std::io::Write as _;
use types::DataType;

/// Longer CopyData messages are encoded by pgwire, which checks the size limit of a message.
const PLAIN_COPY_DATA: usize = 1024 * 1024;

/// Version 3.0 of the protocol.
const PROTOCOL: i32 = 3 << 16;

/// Replaces a zero byte in a string.
const REPLACEMENT: &str = "\u{fffd}";

/// The output buffer of a connection. Messages that every statement sends are encoded here, the others by pgwire.
#[derive(Debug, Default)]
pub(crate) struct Output {
    pub(crate) buffer: Vec<u8>,
}

/// The command tag of a result with rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowTag {
    pub(crate) words: &'static str,
    /// Whether the number of rows follows.
    pub(crate) counted: bool,
}

/// Appends a message. pgwire's encoders fail only for a message beyond its size limit.
fn put(out: &mut Output, message: &impl pgwire::messages::Message) {
    let mut encoded = BytesMut::new();
    if message.encode(&mut encoded).is_err() {
        return out.error("ERROR", &ClientFault::AnswerTooLarge.into());
    }
    out.buffer.extend_from_slice(&encoded);
}

impl Output {
    pub(crate) fn authentication_ok(&mut self) {
        put(self, &Authentication::Ok);
    }

    /// NegotiateProtocolVersion: the newest supported version and the unsupported protocol options.
    pub(crate) fn negotiate_version(&mut self, unsupported: &[String]) {
        // The whole version and not only the minor one: clients compare it with the version they requested.
        let start = self.begin(b'v');
        self.buffer.put_i32(PROTOCOL);
        self.buffer.put_i32(unsupported.len() as i32);
        for option in unsupported {
            self.put_text(option);
        }
        self.end(start);
    }

    pub(crate) fn parameter_status(&mut self, name: &str, value: &str) {
        let start = self.begin(b'S');
        self.put_text(name);
        self.put_text(value);
        self.end(start);
    }

    pub(crate) fn key_data(&mut self, process: i32, secret: i32) {
        put(self, &BackendKeyData::new(process, SecretKey::I32(secret)));
    }

    pub(crate) fn ready(&mut self, status: TransactionStatus) {
        let status = match status {
            TransactionStatus::Idle => b'I',
            TransactionStatus::InTransaction => b'T',
            TransactionStatus::Failed => b'E',
        };
        self.buffer.extend_from_slice(&[b'Z', 0, 0, 0, 5, status]);
    }

    pub(crate) fn parse_complete(&mut self) {
        self.buffer.extend_from_slice(b"1\0\0\0\x04");
    }

    pub(crate) fn bind_complete(&mut self) {
        self.buffer.extend_from_slice(b"2\0\0\0\x04");
    }

    pub(crate) fn close_complete(&mut self) {
        self.buffer.extend_from_slice(b"3\0\0\0\x04");
    }

    pub(crate) fn portal_suspended(&mut self) {
        put(self, &PortalSuspended::new());
    }

    pub(crate) fn empty_query(&mut self) {
        put(self, &EmptyQueryResponse::new());
    }

    pub(crate) fn no_data(&mut self) {
        self.buffer.extend_from_slice(b"n\0\0\0\x04");
    }

    pub(crate) fn complete(&mut self, tag: &str) {
        let start = self.begin(b'C');
        self.put_text(tag);
        self.end(start);
    }

    pub(crate) fn complete_rows(&mut self, tag: RowTag, rows: u64) {
        let start = self.begin(b'C');
        // No `put_text`: the words are a constant without zero bytes.
        self.buffer.extend_from_slice(tag.words.as_bytes());
        if tag.counted {
            // Writing to a `Vec` cannot fail.
            drop(write!(self.buffer, " {rows}"));
        }
        self.buffer.push(0);
        self.end(start);
    }

    pub(crate) fn parameter_description(&mut self, types: &[DataType]) {
        put(self, &ParameterDescription::new(types.iter().map(DataType::oid).collect()));
    }

    /// `format` returns the format code of a column.
    pub(crate) fn row_description(&mut self, columns: &[ColumnDesc], format: impl Fn(usize) -> i16) {
        let start = self.begin(b'T');
        self.buffer.put_u16(columns.len() as u16);
        for (i, column) in columns.iter().enumerate() {
            self.put_text(&column.name);
            self.buffer.put_u32(column.table_oid);
            self.buffer.put_i16(column.column_number);
            self.buffer.put_u32(column.ty.oid());
            self.buffer.put_i16(column.ty.wire_len());
            self.buffer.put_i32(column.ty.typmod());
            self.buffer.put_i16(format(i));
        }
        self.end(start);
    }

    pub(crate) fn error(&mut self, severity: &str, error: &EngineError) {
        let position = error.position().map(|place| place.to_string());
        let more = [
            (b'D', error.detail()),
            (b'H', error.hint()),
            (b'P', position.as_deref()),
            (b'W', error.context()),
            (b's', error.schema()),
            (b't', error.table()),
            (b'c', error.column()),
            (b'n', error.constraint()),
            (b'R', error.routine()),
        ];
        self.report(b'E', severity, error.code(), error.message(), &more);
    }

    pub(crate) fn notice(&mut self, notice: &Notice) {
        let more = [(b'D', notice.detail.as_deref()), (b'H', notice.hint.as_deref())];
        self.report(b'N', notice.severity, notice.code, &notice.message, &more);
    }

    /// Appends an ErrorResponse or NoticeResponse: fields, ended by a zero byte.
    fn report(&mut self, kind: u8, severity: &str, code: &str, message: &str, more: &[(u8, Option<&str>)]) {
        let start = self.begin(kind);
        for (tag, text) in [(b'S', severity), (b'V', severity), (b'C', code), (b'M', message)] {
            self.put_field(tag, text);
        }
        for (tag, text) in more {
            if let Some(text) = text {
                self.put_field(*tag, text);
            }
        }
        self.buffer.push(0);
        self.end(start);
    }

    fn put_field(&mut self, tag: u8, text: &str) {
        self.buffer.push(tag);
        self.put_text(text);
    }

    pub(crate) fn copy_in(&mut self, columns: usize, binary: bool) {
        let (format, columns) = copy_format(columns, binary);
        let formats = vec![i16::from(format); usize::from(columns.cast_unsigned())];
        put(self, &CopyInResponse::new(format, columns, formats));
    }

    pub(crate) fn copy_out(&mut self, columns: usize, binary: bool) {
        let (format, columns) = copy_format(columns, binary);
        let formats = vec![i16::from(format); usize::from(columns.cast_unsigned())];
        put(self, &CopyOutResponse::new(format, columns, formats));
    }

    pub(crate) fn copy_data(&mut self, data: bytes::Bytes) {
        if data.len() > PLAIN_COPY_DATA {
            return put(self, &CopyData::new(data));
        }
        let start = self.begin(b'd');
        self.buffer.extend_from_slice(&data);
        self.end(start);
    }

    pub(crate) fn copy_done(&mut self) {
        put(self, &CopyDone::new());
    }

    /// Begins a DataRow; [`Self::end`] fills in its length.
    pub(crate) fn begin_row(&mut self, columns: usize) -> usize {
        let start = self.begin(b'D');
        self.buffer.put_u16(columns as u16);
        start
    }

    /// Begins a message; [`Self::end`] fills in its length.
    fn begin(&mut self, kind: u8) -> usize {
        let start = self.buffer.len();
        self.buffer.extend_from_slice(&[kind, 0, 0, 0, 0]);
        start
    }

    /// Appends a zero-terminated string. Zero bytes inside it are replaced: they would end the string early, and the
    /// client
    /// would read the rest as the next fields.
    fn put_text(&mut self, text: &str) {
        let mut parts = text.split('\0');
        self.buffer.extend_from_slice(parts.next().unwrap_or_default().as_bytes());
        for part in parts {
            self.buffer.extend_from_slice(REPLACEMENT.as_bytes());
            self.buffer.extend_from_slice(part.as_bytes());
        }
        self.buffer.push(0);
    }

    /// Ends the message that began at `start` by filling in its length.
    pub(crate) fn end(&mut self, start: usize) {
        let length = (self.buffer.len() - start - 1) as u32;
        if let Some(field) = self.buffer.get_mut(start + 1..start + 5) {
            field.copy_from_slice(&length.to_be_bytes());
        }
    }
}

fn copy_format(columns: usize, binary: bool) -> (i8, i16) {
    (i8::from(binary), i16::try_from(columns).unwrap_or(i16::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Output)) -> Vec<u8> {
        let mut out = Output::default();
        write(&mut out);
        out.buffer
    }

    /// Replacing zero bytes keeps the number of strings, and the message ends where its length says.
    #[test]
    fn no_string_of_a_message_has_a_zero_byte() {
        let column =
            |name: &str| ColumnDesc { name: name.to_owned(), ty: DataType::Text, table_oid: 0, column_number: 0 };
        let shape = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == 0).count();
        for (with, without) in [
            (
                written(|out| out.report(b'E', "ERROR", "22P02", "a\0Cb", &[])),
                written(|out| out.report(b'E', "ERROR", "22P02", "a?Cb", &[])),
            ),
            (
                written(|out| out.report(b'E', "ERROR", "22P02", "m", &[(b'W', Some("a\0Cb"))])),
                written(|out| out.report(b'E', "ERROR", "22P02", "m", &[(b'W', Some("a?Cb"))])),
            ),
            (written(|out| out.parameter_status("n", "a\0b")), written(|out| out.parameter_status("n", "a?b"))),
            (written(|out| out.complete("a\0b")), written(|out| out.complete("a?b"))),
            (
                written(|out| out.negotiate_version(&["a\0b".to_owned()])),
                written(|out| out.negotiate_version(&["a?b".to_owned()])),
            ),
            (
                written(|out| out.row_description(&[column("a\0b")], |_| 0)),
                written(|out| out.row_description(&[column("a?b")], |_| 0)),
            ),
        ] {
            assert_eq!(shape(&with), shape(&without), "{}", with.escape_ascii());
            let shown = without.iter().position(|byte| *byte == b'?').unwrap_or_default();
            assert_eq!(with.get(shown..shown + REPLACEMENT.len()), Some(REPLACEMENT.as_bytes()));
        }
    }
}
