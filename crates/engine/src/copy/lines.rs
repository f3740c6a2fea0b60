//! Splits COPY data into lines and lines into fields, for the text and CSV formats.
//!
//! A line is read only when its end is in the buffer, so data may be cut anywhere. Fields are slices of the buffer;
//! fields with escapes and the fields of CSV records with quotes are copied.

use super::format::Format;
use memchr::{memchr, memchr2};
use std::ops::Range;

/// One field of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Null,
    /// Bytes of the line's buffer.
    Plain(Range<usize>),
    /// Bytes of [`Fields::scratch`].
    Unescaped(Range<usize>),
}

/// The fields of one line. Reused for each line to save allocations.
#[derive(Debug, Default)]
pub(super) struct Fields {
    pub(super) list: Vec<Field>,
    scratch: Vec<u8>,
}

/// The result of reading a line from the buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A complete line: its bytes without the line end, and the start of the next line.
    Whole { text: Range<usize>, next: usize },
    /// The end marker `\.`; the rest of the buffer is not data.
    End,
    /// The line's end is not in the buffer yet.
    Partial,
    /// The data ended inside quotes.
    OpenQuote,
    /// A malformed line, with the error message.
    Bad(&'static str),
    /// A line that contains a zero byte, literally or as an escape.
    ZeroByte,
}

impl Fields {
    /// The bytes of a field; `None` is NULL.
    pub(super) fn bytes<'a>(&'a self, buffer: &'a [u8], field: &Field) -> Option<&'a [u8]> {
        match field {
            Field::Null => None,
            Field::Plain(range) => buffer.get(range.clone()),
            Field::Unescaped(range) => self.scratch.get(range.clone()),
        }
    }

    /// Reads the line at `start`. With `last`, the buffer's end is the data's end.
    pub(super) fn read(&mut self, format: &Format, buffer: &[u8], start: usize, last: bool) -> Line {
        match self.read_line(format, buffer, start, last) {
            // Checked before any field is used: a zero byte would truncate the text in an error message.
            Line::Whole { ref text, .. } if self.has_zero_byte(buffer.get(text.clone())) => Line::ZeroByte,
            line => line,
        }
    }

    fn has_zero_byte(&self, line: Option<&[u8]>) -> bool {
        memchr(0, line.unwrap_or_default()).is_some() || memchr(0, &self.scratch).is_some()
    }

    fn read_line(&mut self, format: &Format, buffer: &[u8], start: usize, last: bool) -> Line {
        self.list.clear();
        self.scratch.clear();
        let Some(rest) = buffer.get(start..) else { return Line::Partial };
        if rest.is_empty() {
            return Line::Partial;
        }
        let end = match memchr(b'\n', rest) {
            Some(end) => start + end,
            None if last => buffer.len(),
            None => return Line::Partial,
        };
        let text = start..trim_return(buffer, start, end);
        if buffer.get(text.clone()) == Some(b"\\.") {
            return Line::End;
        }
        let special = if format.csv { format.quote } else { b'\\' };
        let line = buffer.get(text.clone()).unwrap_or_default();
        if memchr2(special, b'\r', line).is_none() {
            self.split_plain(format, line, start);
            return Line::Whole { text, next: end + 1 };
        }
        if format.csv {
            self.read_csv(format, buffer, start, last)
        } else {
            self.read_text(format, buffer, start, last)
        }
    }

    /// Splits a line without escapes or quotes.
    fn split_plain(&mut self, format: &Format, line: &[u8], start: usize) {
        let mut from = 0;
        for end in memchr::memchr_iter(format.delimiter, line).chain(std::iter::once(line.len())) {
            let is_null = end - from == format.null.len() && line.get(from..end) == Some(format.null.as_bytes());
            // FORCE_NOT_NULL keeps an unquoted null string of CSV as a value.
            let forced = format.csv && format.force_not_null.get(self.list.len()) == Some(&true);
            self.list.push(match is_null && !forced {
                true => Field::Null,
                false => Field::Plain(start + from..start + end),
            });
            from = end + 1;
        }
    }

    /// Reads a text line with backslashes, which escape the next byte, also a newline or a delimiter.
    fn read_text(&mut self, format: &Format, buffer: &[u8], start: usize, last: bool) -> Line {
        let mut at = start;
        let mut from = start;
        let mut escaped = false;
        // The end of the field's last escape: a carriage return before it is data.
        let mut plain = start;
        loop {
            let Some(&byte) = buffer.get(at) else {
                if !last {
                    return Line::Partial;
                }
                let end = buffer.len();
                self.push_text(format, buffer, from..trim_return(buffer, plain, end), escaped);
                return Line::Whole { text: start..end, next: end + 1 };
            };
            match byte {
                b'\\' if is_corrupt_end_marker(buffer, at) => return Line::Bad("end-of-copy marker corrupt"),
                b'\\' => {
                    escaped = true;
                    at += 2;
                    plain = at;
                    continue;
                }
                b'\n' => {
                    let end = trim_return(buffer, plain, at);
                    self.push_text(format, buffer, from..end, escaped);
                    return Line::Whole { text: start..end, next: at + 1 };
                }
                b'\r' if buffer.get(at + 1).is_some_and(|next| *next != b'\n') => {
                    return Line::Bad("literal carriage return found in data");
                }
                byte if byte == format.delimiter => {
                    self.push_text(format, buffer, from..at, escaped);
                    from = at + 1;
                    plain = from;
                    escaped = false;
                }
                _ => {}
            }
            at += 1;
        }
    }

    fn push_text(&mut self, format: &Format, buffer: &[u8], range: Range<usize>, escaped: bool) {
        let raw = buffer.get(range.clone()).unwrap_or_default();
        if raw == format.null.as_bytes() {
            self.list.push(Field::Null);
        } else if escaped {
            let from = self.scratch.len();
            unescape(raw, &mut self.scratch);
            self.list.push(Field::Unescaped(from..self.scratch.len()));
        } else {
            self.list.push(Field::Plain(range));
        }
    }

    /// Reads a CSV record with quotes, which may span lines.
    fn read_csv(&mut self, format: &Format, buffer: &[u8], start: usize, last: bool) -> Line {
        let mut at = start;
        loop {
            let from = self.scratch.len();
            let mut quoted = false;
            let ended = loop {
                match buffer.get(at) {
                    None if last => break Some(at),
                    None => return Line::Partial,
                    Some(b'\n') => break Some(at),
                    Some(b'\r') if buffer.get(at + 1) == Some(&b'\n') => break Some(at),
                    Some(b'\r') if buffer.get(at + 1).is_none() && !last => return Line::Partial,
                    Some(b'\r') if buffer.get(at + 1).is_none() => break Some(at),
                    Some(b'\r') => {
                        return Line::Bad("unquoted carriage return found in data");
                    }
                    Some(&byte) if byte == format.delimiter => break None,
                    Some(&byte) if byte == format.quote => {
                        quoted = true;
                        match self.read_quoted(format, buffer, at + 1) {
                            Some(after) => at = after,
                            None if last => return Line::OpenQuote,
                            None => return Line::Partial,
                        }
                    }
                    Some(&byte) => {
                        self.scratch.push(byte);
                        at += 1;
                    }
                }
            };
            self.push_csv(format, from, quoted);
            match ended {
                None => at += 1,
                Some(end) => {
                    let skip = if buffer.get(end) == Some(&b'\r') { 2 } else { 1 };
                    return Line::Whole { text: start..end, next: end + skip };
                }
            }
        }
    }

    /// Copies quoted text and returns the position after the closing quote. `None`: the buffer has no closing quote.
    fn read_quoted(&mut self, format: &Format, buffer: &[u8], start: usize) -> Option<usize> {
        let mut at = start;
        loop {
            let rest = buffer.get(at..)?;
            let found = memchr2(format.quote, format.escape, rest)?;
            self.scratch.extend_from_slice(rest.get(..found)?);
            at += found;
            let byte = *buffer.get(at)?;
            if byte == format.escape {
                match buffer.get(at + 1) {
                    Some(&next) if next == format.quote || next == format.escape => {
                        self.scratch.push(next);
                        at += 2;
                        continue;
                    }
                    // An escape at the end of the buffer needs the next byte: the line is read again with more data.
                    None if byte != format.quote => return None,
                    _ => {}
                }
            }
            if byte == format.quote {
                return Some(at + 1);
            }
            self.scratch.push(byte);
            at += 1;
        }
    }

    fn push_csv(&mut self, format: &Format, from: usize, quoted: bool) {
        let field = self.list.len();
        let is = |list: &[bool]| list.get(field) == Some(&true);
        let same = self.scratch.get(from..) == Some(format.null.as_bytes());
        let null = same && ((!quoted && !is(&format.force_not_null)) || (quoted && is(&format.force_null)));
        self.list.push(if null { Field::Null } else { Field::Unescaped(from..self.scratch.len()) });
    }
}

/// Whether `\.` is followed by more text on the same line, which makes it a corrupt end marker.
fn is_corrupt_end_marker(buffer: &[u8], at: usize) -> bool {
    buffer.get(at + 1) == Some(&b'.') && buffer.get(at + 2).is_some_and(|next| !matches!(next, b'\n' | b'\r'))
}

/// Excludes a carriage return before the line's end.
fn trim_return(buffer: &[u8], start: usize, end: usize) -> usize {
    match end.checked_sub(1) {
        Some(before) if before >= start && buffer.get(before) == Some(&b'\r') => before,
        _ => end,
    }
}

/// Decodes PostgreSQL's backslash escapes of the text format.
fn unescape(raw: &[u8], out: &mut Vec<u8>) {
    let mut rest = raw;
    while let [byte, tail @ ..] = rest {
        rest = tail;
        if *byte != b'\\' {
            out.push(*byte);
            continue;
        }
        let [escaped, tail @ ..] = rest else {
            out.push(b'\\');
            return;
        };
        rest = tail;
        match escaped {
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'v' => out.push(11),
            b'0'..=b'7' => rest = number(*escaped - b'0', rest, 8, 2, out),
            b'x' => match rest {
                [digit, tail @ ..] if digit.is_ascii_hexdigit() => {
                    rest = number(hex(*digit), tail, 16, 1, out);
                }
                _ => out.push(b'x'),
            },
            other => out.push(*other),
        }
    }
}

/// Decodes an octal or hexadecimal escape with up to `more` further digits, and returns the bytes after it.
fn number<'a>(first: u8, mut rest: &'a [u8], base: u8, more: usize, out: &mut Vec<u8>) -> &'a [u8] {
    let mut value = u16::from(first);
    for _ in 0..more {
        let [digit, tail @ ..] = rest else { break };
        if !(digit.is_ascii_hexdigit() && hex(*digit) < base) {
            break;
        }
        value = value * u16::from(base) + u16::from(hex(*digit));
        rest = tail;
    }
    out.push((value & 0xFF) as u8);
    rest
}

fn hex(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        _ => digit.to_ascii_lowercase().wrapping_sub(b'a').wrapping_add(10),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]
mod tests;
