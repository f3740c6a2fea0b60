//! Prints byte ranges as values, for EXPLAIN.
//!
//! ```text
//!   ['UA',1545]                 one key            ['UA',*]                   all keys with this prefix
//!   ['UA',1545 .. 'UA',1600)    an interval        3:['UA',*]                 in salt bucket 3
//! ```
//!
//! A bound after a value is printed as `(` or `]`, and a bound that is no value as hex. Printing cannot fail: any bytes
//! are accepted.

use super::bound::successor;
use super::condition::ByteRange;
use crate::part::{NULL_LAST, VALUE};
use crate::{KeyPart, KeySchema};
use std::fmt::Write;

/// Prints the range on one line.
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

/// Removes the salt byte from both bounds; the returned text has the salt buckets.
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
        // `'ab'…` already means that anything may follow.
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

/// One bound of a range, decoded as far as possible.
struct Bound {
    values: String,
    /// The number of whole parts decoded.
    parts: usize,
    /// Whether the bound is directly after all keys that begin with these values.
    behind: bool,
    /// Whether the last part is a text prefix or NOT NULL, so that anything may follow.
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

    /// Decodes whole parts and returns the remaining bytes.
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

    /// Prints an incomplete part: a text prefix as `'ab'…`, anything else as hex.
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

/// The word for a mark without a value: the start of the non-null values, or their end if NULLs sort first.
fn mark_word(part: &KeyPart, rest: &[u8]) -> Option<&'static str> {
    match rest {
        [VALUE] if part.nullable => Some("NOT NULL"),
        [NULL_LAST] if part.nullable => Some("*"),
        _ => None,
    }
}

/// The bytes whose [`successor`] is `bytes`, if the last byte is not zero.
fn predecessor(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut before = bytes.to_vec();
    let last = before.pop()?.checked_sub(1)?;
    before.push(last);
    Some(before)
}
