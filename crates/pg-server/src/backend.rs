//! What the server sends, appended to the connection's buffer and flushed once per Sync.

use bytes::{BufMut, BytesMut};
use engine::{ColumnDesc, EngineError, Notice, TransactionStatus};
use pgwire::messages::Message as _;
use pgwire::messages::copy::{CopyData, CopyDone, CopyInResponse, CopyOutResponse};
use pgwire::messages::data::{FieldDescription, NoData, ParameterDescription, RowDescription};
use pgwire::messages::extendedquery::{BindComplete, CloseComplete, ParseComplete, PortalSuspended};
use pgwire::messages::response::{
    self, CommandComplete, EmptyQueryResponse, ErrorResponse, NoticeResponse, ReadyForQuery,
};
use pgwire::messages::startup::{Authentication, BackendKeyData, NegotiateProtocolVersion, ParameterStatus, SecretKey};
use types::DataType;

/// The output buffer of a connection.
#[derive(Debug, Default)]
pub(crate) struct Output {
    pub(crate) buffer: BytesMut,
}

/// A message that pgwire's encoders refuse is one beyond its size limit.
fn put(buffer: &mut BytesMut, message: &impl pgwire::messages::Message) {
    let start = buffer.len();
    if message.encode(buffer).is_err() {
        buffer.truncate(start);
        let fields = fields("ERROR", "54000", "message too large for the protocol");
        // Cannot fail: its length is fixed and small.
        drop(ErrorResponse::new(fields).encode(buffer));
    }
}

fn fields(severity: &str, code: &str, message: &str) -> Vec<(u8, String)> {
    vec![(b'S', severity.into()), (b'V', severity.into()), (b'C', code.into()), (b'M', message.into())]
}

impl Output {
    pub(crate) fn authentication_ok(&mut self) {
        put(&mut self.buffer, &Authentication::Ok);
    }

    pub(crate) fn negotiate_version(&mut self, unsupported: Vec<String>) {
        put(&mut self.buffer, &NegotiateProtocolVersion::new(0, unsupported));
    }

    pub(crate) fn parameter_status(&mut self, name: &str, value: &str) {
        put(&mut self.buffer, &ParameterStatus::new(name.into(), value.into()));
    }

    pub(crate) fn key_data(&mut self, process: i32, secret: i32) {
        put(&mut self.buffer, &BackendKeyData::new(process, SecretKey::I32(secret)));
    }

    pub(crate) fn ready(&mut self, status: TransactionStatus) {
        let status = match status {
            TransactionStatus::Idle => response::TransactionStatus::Idle,
            TransactionStatus::InTransaction => response::TransactionStatus::Transaction,
            TransactionStatus::Failed => response::TransactionStatus::Error,
        };
        put(&mut self.buffer, &ReadyForQuery::new(status));
    }

    pub(crate) fn parse_complete(&mut self) {
        put(&mut self.buffer, &ParseComplete::new());
    }

    pub(crate) fn bind_complete(&mut self) {
        put(&mut self.buffer, &BindComplete::new());
    }

    pub(crate) fn close_complete(&mut self) {
        put(&mut self.buffer, &CloseComplete::new());
    }

    pub(crate) fn portal_suspended(&mut self) {
        put(&mut self.buffer, &PortalSuspended::new());
    }

    pub(crate) fn empty_query(&mut self) {
        put(&mut self.buffer, &EmptyQueryResponse::new());
    }

    pub(crate) fn no_data(&mut self) {
        put(&mut self.buffer, &NoData::new());
    }

    pub(crate) fn complete(&mut self, tag: &str) {
        put(&mut self.buffer, &CommandComplete::new(tag.into()));
    }

    pub(crate) fn parameter_description(&mut self, types: &[DataType]) {
        put(&mut self.buffer, &ParameterDescription::new(types.iter().map(DataType::oid).collect()));
    }

    /// `format` tells the format code of a column.
    pub(crate) fn row_description(&mut self, columns: &[ColumnDesc], format: impl Fn(usize) -> i16) {
        let field = |(i, column): (usize, &ColumnDesc)| {
            FieldDescription::new(
                column.name.clone(),
                column.table_oid.cast_signed(),
                column.column_number,
                column.ty.oid(),
                column.ty.wire_len(),
                column.ty.typmod(),
                format(i),
            )
        };
        put(&mut self.buffer, &RowDescription::new(columns.iter().enumerate().map(field).collect()));
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
        put(&mut self.buffer, &CopyData::new(data));
    }

    pub(crate) fn copy_done(&mut self) {
        put(&mut self.buffer, &CopyDone::new());
    }

    /// Begins a DataRow; [`Self::end_row`] fills in its length.
    pub(crate) fn begin_row(&mut self, columns: usize) -> usize {
        let start = self.buffer.len();
        self.buffer.put_u8(b'D');
        self.buffer.put_i32(0);
        self.buffer.put_u16(columns as u16);
        start
    }

    pub(crate) fn end_row(&mut self, start: usize) {
        let length = (self.buffer.len() - start - 1) as u32;
        if let Some(field) = self.buffer.get_mut(start + 1..start + 5) {
            field.copy_from_slice(&length.to_be_bytes());
        }
    }
}

fn copy_format(columns: usize, binary: bool) -> (i8, i16) {
    (i8::from(binary), i16::try_from(columns).unwrap_or(i16::MAX))
}
