//! Byte ranges for people: EXPLAIN shows them as values.
//!
//! ```text
//!   ['UA',1545]                 one key            ['UA',*]                   all keys that begin so
//!   ['UA',1545 .. 'UA',1600)    an interval        3:['UA',*]                 in salt bucket 3
//! ```
//!
//! A bound that lies behind a value shows as `(` or `]`, one that is no value as hex. Nothing here can fail: the bytes
//! may come from anywhere.

use super::bound::successor;
use super::condition::ByteRange;
use crate::part::{NULL_LAST, VALUE};
use crate::{KeyPart, KeySchema};
use std::fmt::Write;

/// The range as text, on one line.
pub fn describe(schema: &KeySchema, range: &ByteRange) -> String {
    let (salt, start, end) = without_salt(schema, range);
    let body = if let Some(key) = range.as_point() {
        format!("[{}]", Bound::read(schema, schema.unsalted(key)).values)
    } else if end == successor(&start) {
        prefix_text(schema, &start)
    } else {
        interval_text(schema, &start, end.as_deref())
    };
    salt + &body
}

/// Takes the salt byte off both ends; the text says which buckets they name.
fn without_salt(schema: &KeySchema, range: &ByteRange) -> (String, Vec<u8>, Option<Vec<u8>>) {
    let whole = (String::new(), range.start.clone(), range.end.clone());
    if schema.salt_buckets.is_none() {
        return whole;
    }
    let Some((first, start)) = range.start.split_first() else { return whole };
    match range.end.as_deref() {
        Some([last, end @ ..]) if last == first => (format!("{first}:"), start.to_vec(), Some(end.to_vec())),
        Some([last, end @ ..]) if end.is_empty() && first.checked_add(1) == Some(*last) => {
            (format!("{first}:"), start.to_vec(), None)
        }
        None if *first == u8::MAX => (format!("{first}:"), start.to_vec(), None),
        Some([last, end @ ..]) => (format!("{first}..{last}:"), start.to_vec(), Some(end.to_vec())),
        _ => (format!("{first}..:"), start.to_vec(), None),
    }
}

fn prefix_text(schema: &KeySchema, prefix: &[u8]) -> String {
    let bound = Bound::read(schema, prefix);
    match (bound.values.as_str(), bound.parts == schema.parts.len()) {
        ("", _) => "[*]".to_owned(),
        (values, true) => format!("[{values}]"),
        // 'ab'… already says that anything may follow.
        (values, false) if bound.open => format!("[{values}]"),
        (values, false) => format!("[{values},*]"),
    }
}

fn interval_text(schema: &KeySchema, start: &[u8], end: Option<&[u8]>) -> String {
    let low = Bound::read(schema, start);
    let mut text = if low.behind { "(".to_owned() } else { "[".to_owned() };
    text.push_str(if low.values.is_empty() { "*" } else { &low.values });
    text.push_str(" .. ");
    match end.map(|end| Bound::read(schema, end)) {
        None => text.push_str("*]"),
        Some(high) => {
            text.push_str(&high.values);
            text.push(if high.behind { ']' } else { ')' });
        }
    }
    text
}

/// One end of a range, read as far as it goes.
struct Bound {
    values: String,
    /// Whole parts read.
    parts: usize,
    /// The bound lies right behind these values and all keys that begin with them.
    behind: bool,
    /// The last part is the beginning of a text, or NOT NULL: anything may follow.
    open: bool,
}

impl Bound {
    fn read(schema: &KeySchema, bytes: &[u8]) -> Self {
        let mut bound = Self { values: String::new(), parts: 0, behind: false, open: false };
        let rest = bound.read_parts(schema, bytes);
        if rest.is_empty() {
            return bound;
        }
        if let Some(word) = schema.parts.get(bound.parts).and_then(|part| mark_word(part, rest)) {
            bound.push(word);
            bound.open = true;
            return bound;
        }
        if let Some(before) = predecessor(rest) {
            let mut behind = Self { values: bound.values.clone(), parts: bound.parts, behind: true, open: false };
            if behind.read_parts(schema, &before).is_empty() {
                return behind;
            }
        }
        bound.read_remainder(schema, rest);
        bound
    }

    /// Reads whole parts and returns what is left.
    fn read_parts<'a>(&mut self, schema: &KeySchema, bytes: &'a [u8]) -> &'a [u8] {
        let mut rest = bytes;
        let mut buffer = Vec::new();
        while let Some(part) = schema.parts.get(self.parts) {
            let Some((front, tail)) = part.length(rest).ok().and_then(|length| rest.split_at_checked(length)) else {
                return rest;
            };
            let Ok(value) = part.decode(front, &mut buffer) else { return rest };
            self.push(&value.to_literal());
            self.parts += 1;
            rest = tail;
        }
        rest
    }

    /// What is no whole part: the beginning of a text as `'ab'…`, else hex.
    fn read_remainder(&mut self, schema: &KeySchema, rest: &[u8]) {
        let part = schema.parts.get(self.parts);
        let value = match (part, rest) {
            (Some(part), [VALUE, value @ ..]) if part.nullable => value,
            _ => rest,
        };
        let mask = part.map_or(0, KeyPart::mask);
        let plain: Vec<u8> = value.iter().map(|byte| byte ^ mask).collect();
        let text = part.filter(|part| part.ty.is_text()).and_then(|_| String::from_utf8(plain).ok());
        match text.filter(|text| !text.contains('\0')) {
            Some(text) => {
                self.push(&format!("'{}'…", text.replace('\'', "''")));
                self.open = true;
            }
            None => {
                let hex = rest.iter().fold("0x".to_owned(), |mut hex, byte| {
                    // Writing to a String cannot fail.
                    let _ = write!(hex, "{byte:02x}");
                    hex
                });
                self.push(&hex);
            }
        }
    }

    fn push(&mut self, value: &str) {
        if !self.values.is_empty() {
            self.values.push(',');
        }
        self.values.push_str(value);
    }
}

/// A mark without a value: where the values of a nullable part begin, or where they end with no NULL behind them.
fn mark_word(part: &KeyPart, rest: &[u8]) -> Option<&'static str> {
    match rest {
        [VALUE] if part.nullable => Some("NOT NULL"),
        [NULL_LAST] if part.nullable => Some("*"),
        _ => None,
    }
}

/// The bytes whose [`successor`] these are, if their last byte tells.
fn predecessor(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut before = bytes.to_vec();
    let last = before.pop()?.checked_sub(1)?;
    before.push(last);
    Some(before)
}
