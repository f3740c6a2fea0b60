//! What the server sends, appended to the connection's buffer and flushed once per Sync.

use bytes::{BufMut, BytesMut};
use engine::{ColumnDesc, EngineError, Notice, TransactionStatus};
use pgwire::messages::Message as _;
use pgwire::messages::copy::{CopyData, CopyDone, CopyInResponse, CopyOutResponse};
use pgwire::messages::data::ParameterDescription;
use pgwire::messages::extendedquery::PortalSuspended;
use pgwire::messages::response::{EmptyQueryResponse, ErrorResponse, NoticeResponse};
use pgwire::messages::startup::{Authentication, BackendKeyData, NegotiateProtocolVersion, ParameterStatus, SecretKey};
use std::io::Write as _;
use types::DataType;

/// Longer pieces of COPY are left to pgwire, which knows what is too long for a message.
const PLAIN_COPY_DATA: usize = 1024 * 1024;

/// Version 3.0 of the protocol.
const PROTOCOL: i32 = 3 << 16;

/// The output buffer of a connection. What each statement sends is written here by hand, the rest by pgwire.
#[derive(Debug, Default)]
pub(crate) struct Output {
    pub(crate) buffer: Vec<u8>,
}

/// The command tag of an answer of rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowTag {
    pub(crate) words: &'static str,
    /// Does the number of rows follow?
    pub(crate) counted: bool,
}

/// A message that pgwire's encoders refuse is one beyond its size limit.
fn put(buffer: &mut Vec<u8>, message: &impl pgwire::messages::Message) {
    let mut encoded = BytesMut::new();
    if message.encode(&mut encoded).is_err() {
        encoded.clear();
        let fields = fields("ERROR", "54000", "message too large for the protocol");
        // Cannot fail: its length is fixed and small.
        drop(ErrorResponse::new(fields).encode(&mut encoded));
    }
    buffer.extend_from_slice(&encoded);
}

fn fields(severity: &str, code: &str, message: &str) -> Vec<(u8, String)> {
    vec![(b'S', severity.into()), (b'V', severity.into()), (b'C', code.into()), (b'M', message.into())]
}

impl Output {
    pub(crate) fn authentication_ok(&mut self) {
        put(&mut self.buffer, &Authentication::Ok);
    }

    /// The newest version that is spoken here, and options of the protocol that are not known.
    pub(crate) fn negotiate_version(&mut self, unsupported: Vec<String>) {
        // The whole number and not only the minor one: what clients compare with what they asked for.
        put(&mut self.buffer, &NegotiateProtocolVersion::new(PROTOCOL, unsupported));
    }

    pub(crate) fn parameter_status(&mut self, name: &str, value: &str) {
        put(&mut self.buffer, &ParameterStatus::new(name.into(), value.into()));
    }

    pub(crate) fn key_data(&mut self, process: i32, secret: i32) {
        put(&mut self.buffer, &BackendKeyData::new(process, SecretKey::I32(secret)));
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
        put(&mut self.buffer, &PortalSuspended::new());
    }

    pub(crate) fn empty_query(&mut self) {
        put(&mut self.buffer, &EmptyQueryResponse::new());
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
        self.buffer.extend_from_slice(tag.words.as_bytes());
        if tag.counted {
            // Cannot fail: a buffer takes all.
            drop(write!(self.buffer, " {rows}"));
        }
        self.buffer.push(0);
        self.end(start);
    }

    pub(crate) fn parameter_description(&mut self, types: &[DataType]) {
        put(&mut self.buffer, &ParameterDescription::new(types.iter().map(DataType::oid).collect()));
    }

    /// `format` tells the format code of a column.
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
        let mut list = fields(severity, error.code(), error.message());
        let mut add = |tag: u8, value: Option<String>| list.extend(value.map(|v| (tag, v)));
        add(b'D', error.detail().map(Into::into));
        add(b'H', error.hint().map(Into::into));
        add(b'P', error.position().map(|p| p.to_string()));
        add(b'W', error.context().map(Into::into));
        add(b's', error.schema().map(Into::into));
        add(b't', error.table().map(Into::into));
        add(b'c', error.column().map(Into::into));
        add(b'n', error.constraint().map(Into::into));
        add(b'R', error.routine().map(Into::into));
        put(&mut self.buffer, &ErrorResponse::new(list));
    }

    /// An error of this crate with the place in the data where it came.
    pub(crate) fn error_at(&mut self, severity: &str, code: &str, message: &str, place: &str) {
        let mut list = fields(severity, code, message);
        list.push((b'W', place.into()));
        put(&mut self.buffer, &ErrorResponse::new(list));
    }

    pub(crate) fn plain_error(&mut self, severity: &str, code: &str, message: &str) {
        put(&mut self.buffer, &ErrorResponse::new(fields(severity, code, message)));
    }

    pub(crate) fn notice(&mut self, notice: &Notice) {
        let mut list = fields(notice.severity, notice.code, &notice.message);
        list.extend(notice.detail.clone().map(|v| (b'D', v)));
        list.extend(notice.hint.clone().map(|v| (b'H', v)));
        put(&mut self.buffer, &NoticeResponse::new(list));
    }

    pub(crate) fn copy_in(&mut self, columns: usize, binary: bool) {
        let (format, columns) = copy_format(columns, binary);
        let formats = vec![i16::from(format); usize::from(columns.cast_unsigned())];
        put(&mut self.buffer, &CopyInResponse::new(format, columns, formats));
    }

    pub(crate) fn copy_out(&mut self, columns: usize, binary: bool) {
        let (format, columns) = copy_format(columns, binary);
        let formats = vec![i16::from(format); usize::from(columns.cast_unsigned())];
        put(&mut self.buffer, &CopyOutResponse::new(format, columns, formats));
    }

    pub(crate) fn copy_data(&mut self, data: bytes::Bytes) {
        if data.len() > PLAIN_COPY_DATA {
            return put(&mut self.buffer, &CopyData::new(data));
        }
        let start = self.begin(b'd');
        self.buffer.extend_from_slice(&data);
        self.end(start);
    }

    pub(crate) fn copy_done(&mut self) {
        put(&mut self.buffer, &CopyDone::new());
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

    /// Text of SQL, which has no zero byte in it.
    fn put_text(&mut self, text: &str) {
        self.buffer.extend_from_slice(text.as_bytes());
        self.buffer.push(0);
    }

    /// Ends what [`Self::begin_row`] began at `start`.
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
