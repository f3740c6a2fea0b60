//! COPY in PostgreSQL's binary format.
//!
//! ```text
//!   PGCOPY\n FF \r\n 00 | flags: 4 | length of extension: 4 | tuples | FF FF
//!   tuple: number of fields: 2 | for each its length: 4 (-1: NULL) and its bytes
//! ```
//! COPY FROM converts the tuples to lines of the text format, which the line reader parses.

use super::block::CopyBlock;
use super::format::Format;
use super::input::MAX_LINE;
use super::output::escape_text;
use crate::EngineError;
use crate::binary::{get, put};
use crate::error::{EngineResult, Fault, fail};
use bytes::{Buf, BufMut, Bytes, BytesMut};
use types::{DataType, Datum, text};

const SIGNATURE: &[u8] = b"PGCOPY\n\xff\r\n\0";
/// The header flag of tuples with OIDs, which PostgreSQL has not written since version 12.
const WITH_OIDS: u32 = 1 << 16;

/// Decodes tuples from data that may be cut at any byte.
pub(super) struct Tuples {
    /// Names and types of the columns.
    columns: Vec<(String, DataType)>,
    pending: BytesMut,
    begun: bool,
    ended: bool,
}

impl Tuples {
    pub(super) fn new(columns: Vec<(String, DataType)>) -> Self {
        Self { columns, pending: BytesMut::new(), begun: false, ended: false }
    }

    /// The number of bytes that are not decoded yet.
    pub(super) fn waiting(&self) -> usize {
        self.pending.len()
    }

    /// Whether the header was read.
    pub(super) fn has_begun(&self) -> bool {
        self.begun
    }

    /// Buffers `data` and appends a text line for each complete tuple.
    pub(super) fn feed(&mut self, data: &[u8], format: &Format, lines: &mut Vec<u8>) -> EngineResult<()> {
        self.pending.extend_from_slice(data);
        if self.ended {
            return self.check_no_data_follows();
        }
        if !self.begun && !self.begin()? {
            return Ok(());
        }
        let mut line = String::new();
        while !self.ended
            && let Some(tuple) = self.next()?
        {
            line.clear();
            for (i, ((name, ty), field)) in self.columns.iter().zip(tuple).enumerate() {
                if i > 0 {
                    line.push(char::from(format.delimiter));
                }
                match field {
                    None => line.push_str(&format.null),
                    Some(bytes) => print(ty, &bytes, format, &mut line).map_err(|error| in_column(name, error))?,
                }
            }
            line.push('\n');
            lines.extend_from_slice(line.as_bytes());
        }
        if self.ended { self.check_no_data_follows() } else { Ok(()) }
    }

    fn check_no_data_follows(&self) -> EngineResult<()> {
        if self.pending.is_empty() { Ok(()) } else { bad("received copy data after EOF marker".to_string()) }
    }

    /// Ends the data; an error if it ends inside the header or a tuple.
    pub(super) fn finish(&self) -> EngineResult<()> {
        if self.ended || (self.begun && self.pending.is_empty()) {
            return Ok(());
        }
        if !self.begun {
            return bad(match self.pending.len().checked_sub(SIGNATURE.len()) {
                None => "COPY file signature not recognized",
                Some(0..4) => "invalid COPY file header (missing flags)",
                Some(4..8) => "invalid COPY file header (missing length)",
                Some(_) => "invalid COPY file header (wrong length)",
            }
            .to_string());
        }
        let cut = bad("unexpected EOF in COPY data".to_string());
        match self.incomplete_column() {
            Some(name) => cut.map_err(|error| in_column(name, error)),
            None => cut,
        }
    }

    /// The column whose field is incomplete.
    fn incomplete_column(&self) -> Option<&str> {
        let mut rest = self.pending.get(2..).filter(|_| self.begun)?;
        for (name, _) in &self.columns {
            if rest.len() < 4 {
                return Some(name);
            }
            let length = rest.get_i32();
            match rest.get(usize::try_from(length).unwrap_or(0)..) {
                Some(behind) => rest = behind,
                None => return Some(name),
            }
        }
        None
    }

    /// Reads the header. False if it is incomplete.
    fn begin(&mut self) -> EngineResult<bool> {
        let known = self.pending.len().min(SIGNATURE.len());
        if self.pending.get(..known) != SIGNATURE.get(..known) {
            return bad("COPY file signature not recognized".to_string());
        }
        let Some(mut head) = self.pending.get(SIGNATURE.len()..).filter(|head| head.len() >= 8) else {
            return Ok(false);
        };
        let (flags, extension) = (head.get_u32(), head.get_u32() as usize);
        if flags & WITH_OIDS != 0 {
            return bad("invalid COPY file header (WITH OIDS)".to_string());
        }
        if flags >> 16 != 0 {
            return bad("unrecognized critical flags in COPY file header".to_string());
        }
        if extension > MAX_LINE {
            return bad("invalid COPY file header (wrong length)".to_string());
        }
        if head.len() < extension {
            return Ok(false);
        }
        self.pending.advance(SIGNATURE.len() + 8 + extension);
        self.begun = true;
        Ok(true)
    }

    /// Returns the next tuple. `None` if it is incomplete or the trailer was read.
    fn next(&mut self) -> EngineResult<Option<Vec<Option<Bytes>>>> {
        let mut rest: &[u8] = &self.pending;
        if rest.len() < 2 {
            return Ok(None);
        }
        let count = rest.get_i16();
        if count == -1 {
            self.pending.advance(2);
            self.ended = true;
            return Ok(None);
        }
        let expected = self.columns.len();
        if usize::try_from(count) != Ok(expected) {
            return bad(format!("row field count is {count}, expected {expected}"));
        }
        let mut lengths = Vec::with_capacity(expected);
        let mut total = 0_usize;
        for (name, _) in &self.columns {
            if rest.len() < 4 {
                return Ok(None);
            }
            let length = match rest.get_i32() {
                -1 => None,
                length => match usize::try_from(length) {
                    Ok(length) => Some(length),
                    Err(_) => {
                        return bad("invalid field size".to_string()).map_err(|error| in_column(name, error));
                    }
                },
            };
            // Refuses an excessive length at once instead of buffering the data it announces.
            total = total.saturating_add(length.unwrap_or(0));
            if total > MAX_LINE {
                return fail(Fault::LongCopyLine { limit: MAX_LINE }).map_err(|error| in_column(name, error));
            }
            if rest.len() < length.unwrap_or(0) {
                return Ok(None);
            }
            rest.advance(length.unwrap_or(0));
            lengths.push(length);
        }
        self.pending.advance(2);
        Ok(Some(lengths.into_iter().map(|length| self.field(length)).collect()))
    }

    fn field(&mut self, length: Option<usize>) -> Option<Bytes> {
        self.pending.advance(4);
        length.map(|length| self.pending.split_to(length).freeze())
    }
}

fn print(ty: &DataType, bytes: &[u8], format: &Format, line: &mut String) -> EngineResult<()> {
    if usize::try_from(ty.wire_len()).is_ok_and(|length| bytes.len() < length) {
        return fail(Fault::ShortBinary);
    }
    let Some(value) = get(ty, bytes)? else { return fail(Fault::BadBinary) };
    let mut shown = String::new();
    text::print(ty, &value, &mut shown);
    escape_text(format, &shown, line);
    Ok(())
}

/// Adds the column to the error's context; the caller adds the line number.
fn in_column(name: &str, error: EngineError) -> EngineError {
    error.with_context(format!("column {name}"))
}

fn bad<T>(message: String) -> EngineResult<T> {
    fail(Fault::BadCopy { message })
}

/// The file header.
pub(super) fn header() -> Bytes {
    let mut out = BytesMut::from(SIGNATURE);
    out.put_u64(0);
    out.freeze()
}

/// The file trailer.
pub(super) fn trailer() -> Bytes {
    Bytes::from_static(&[0xff, 0xff])
}

/// Encodes rows as tuples.
pub(super) fn encode(types: &[DataType], rows: &[Vec<Datum>]) -> CopyBlock {
    let mut out = BytesMut::new();
    let mut ends = Vec::with_capacity(rows.len());
    for row in rows {
        out.put_u16(types.len() as u16);
        for (ty, value) in types.iter().zip(row) {
            if value.is_null() {
                out.put_i32(-1);
                continue;
            }
            let mut field = Vec::new();
            put(ty, value, &mut field);
            out.put_u32(field.len() as u32);
            out.extend_from_slice(&field);
        }
        ends.push(out.len());
    }
    CopyBlock::new(out.freeze(), ends)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use sql::{CopyFormat, CopyOptions};

    fn format() -> Format {
        let options = CopyOptions { format: CopyFormat::Binary, ..CopyOptions::default() };
        Format::new(&options, &[]).unwrap()
    }

    fn columns(types: &[DataType]) -> Vec<(String, DataType)> {
        types.iter().map(|ty| ("c".to_owned(), *ty)).collect()
    }

    fn written() -> (Vec<DataType>, Vec<u8>) {
        let types = vec![DataType::Integer, DataType::Text];
        let rows = [vec![Datum::Int4(-7), Datum::Text("a\tb".to_owned())], vec![Datum::Null, Datum::Null]];
        let block = encode(&types, &rows).behind(&header());
        assert_eq!(block.rows().count(), 2);
        (types, [&block[..], &trailer()[..]].concat())
    }

    #[test]
    fn tuples_cut_anywhere_become_the_same_lines() {
        let (types, data) = written();
        for cut in 0..data.len() {
            let (mut tuples, mut lines) = (Tuples::new(columns(&types)), Vec::new());
            tuples.feed(&data[..cut], &format(), &mut lines).unwrap();
            tuples.feed(&data[cut..], &format(), &mut lines).unwrap();
            tuples.finish().unwrap();
            assert_eq!(lines, b"-7\ta\\tb\n\\N\t\\N\n", "cut at {cut}");
        }
    }

    #[test]
    fn damaged_data_is_refused() {
        let (types, data) = written();
        let code = |data: &[u8]| {
            let mut tuples = Tuples::new(columns(&types));
            let fed = tuples.feed(data, &format(), &mut Vec::new());
            fed.and_then(|()| tuples.finish()).map_err(|error| error.code()).err()
        };
        assert_eq!(code(&data), None);
        assert_eq!(code(&data[..data.len() - 3]), Some("22P04"), "a tuple that ends early");
        assert_eq!(code(b"PGCOPX"), Some("22P04"), "another signature");
        let mut narrow = data.clone();
        narrow[20] = 1;
        assert_eq!(code(&narrow), Some("22P04"), "too few fields");
        let mut short = data.clone();
        short[24] = 3;
        short.remove(25);
        assert_eq!(code(&short), Some("08P01"), "an integer of three bytes");
    }
}
