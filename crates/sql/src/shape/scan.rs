//! Computes a shape in one pass over the bytes of a text.

use super::{Literal, LiteralValue, Shape};

/// Markers of literals. A text that has a shape does not contain these characters.
const INT4: char = '\u{1}';
const INT8: char = '\u{2}';
const TEXT: char = '\u{3}';

/// First words of statements that have a shape.
const FIRST: [&str; 7] = ["select", "insert", "update", "delete", "upsert", "with", "values"];

pub(super) fn scan(text: &str, max_literals: usize) -> Option<Shape> {
    let first = text.len() - text.trim_start().len();
    let span = first..text.trim_end_matches(|c: char| c.is_ascii_whitespace() || c == ';').len();
    let text = text.get(span.clone())?;
    let words = text.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '(');
    let word = words.split(|c: char| !c.is_ascii_alphabetic()).next()?;
    if !FIRST.iter().any(|first| word.eq_ignore_ascii_case(first)) {
        return None;
    }
    let end = text.len();
    let mut scan = Scan { text, end, at: 0, copied: 0, shape: String::with_capacity(end), literals: Vec::new() };
    while scan.at < scan.end {
        scan.token()?;
        if scan.literals.len() > max_literals {
            return None;
        }
    }
    scan.copy_up_to(end)?;
    Some(Shape { text: scan.shape, literals: scan.literals, span })
}

struct Scan<'t> {
    text: &'t str,
    end: usize,
    at: usize,
    /// Number of bytes of the text that are in the shape already.
    copied: usize,
    shape: String,
    literals: Vec<Literal>,
}

impl Scan<'_> {
    fn byte(&self, at: usize) -> u8 {
        if at < self.end { self.text.as_bytes().get(at).copied().unwrap_or(0) } else { 0 }
    }

    /// Skips one token. Returns `None` if the text has no shape.
    fn token(&mut self) -> Option<()> {
        let (byte, next) = (self.byte(self.at), self.byte(self.at + 1));
        match byte {
            b'\'' => self.string()?,
            b'"' => self.quoted_name()?,
            b'0'..=b'9' => self.number()?,
            b'.' if next.is_ascii_digit() => self.skip(is_of_number),
            b'-' if next == b'-' => return None,
            b'/' if next == b'*' => return None,
            b'$' | b'?' | b';' | b'`' | b'\\' => return None,
            b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
            _ if byte < b' ' || byte == 0x7f => return None,
            _ if is_of_name(byte) => {
                self.skip(is_of_name);
                // E'…', U&'…', B'…' and other strings and names with a prefix.
                if matches!(self.byte(self.at), b'\'' | b'"') || self.byte(self.at) == b'&' {
                    return None;
                }
            }
            _ => self.at += 1,
        }
        Some(())
    }

    fn skip(&mut self, part: fn(u8) -> bool) {
        self.at += 1;
        while part(self.byte(self.at)) {
            self.at += 1;
        }
    }

    /// Skips `"a ""name"""`, which stays in the text.
    fn quoted_name(&mut self) -> Option<()> {
        let inside = self.text.get(self.at + 1..self.end)?;
        self.at += inside.find('"')? + 2;
        Some(())
    }

    /// Reads an integer. Any other number stays in the text.
    fn number(&mut self) -> Option<()> {
        let start = self.at;
        self.skip(|byte| byte.is_ascii_digit());
        if is_of_number(self.byte(self.at)) {
            self.skip(is_of_number);
            return Some(());
        }
        let digits = self.text.get(start..self.at)?;
        match (digits.parse::<i32>(), digits.parse::<i64>()) {
            (Ok(value), _) => self.literal(start, INT4, LiteralValue::Int4(value)),
            (_, Ok(value)) => self.literal(start, INT8, LiteralValue::Int8(value)),
            _ => Some(()),
        }
    }

    fn string(&mut self) -> Option<()> {
        let start = self.at;
        let mut value = String::new();
        loop {
            let inside = self.text.get(self.at + 1..self.end)?;
            let length = inside.find('\'')?;
            value.push_str(inside.get(..length)?);
            self.at += length + 2;
            if self.byte(self.at) != b'\'' {
                break;
            }
            value.push('\'');
        }
        // 'a' and 'b' on consecutive lines are one string.
        let rest = self.text.get(self.at..self.end)?.trim_start();
        if rest.starts_with('\'') {
            return None;
        }
        self.literal(start, TEXT, LiteralValue::Text(value))
    }

    fn literal(&mut self, start: usize, mark: char, value: LiteralValue) -> Option<()> {
        self.copy_up_to(start)?;
        self.shape.push(mark);
        self.copied = self.at;
        self.literals.push(Literal { span: start..self.at, value });
        Some(())
    }

    fn copy_up_to(&mut self, end: usize) -> Option<()> {
        self.shape.push_str(self.text.get(self.copied..end)?);
        self.copied = end;
        Some(())
    }
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}

fn is_of_number(byte: u8) -> bool {
    is_of_name(byte) || byte == b'.'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str) -> Option<(String, Vec<&str>)> {
        let shape = Shape::of(text)?;
        let written = shape.literals.iter().map(|literal| text.get(literal.span.clone()).unwrap_or_default());
        let marks = |c: char| if c < ' ' { '¤' } else { c };
        Some((shape.text.chars().map(marks).collect(), written.collect()))
    }

    #[test]
    fn integers_and_strings_are_taken_out_and_all_else_stays() {
        assert_eq!(
            marked("SELECT a1, \"b 2\" FROM t3 WHERE k=42 AND s = 'it''s' LIMIT 5;"),
            Some(("SELECT a1, \"b 2\" FROM t3 WHERE k=¤ AND s = ¤ LIMIT ¤".to_owned(), vec!["42", "'it''s'", "5"]))
        );
        assert_eq!(
            marked("select 1.5, .25, 1e3, 0x1F, 12345678901234567890"),
            Some(("select 1.5, .25, 1e3, 0x1F, 12345678901234567890".to_owned(), vec![]))
        );
        let shape = Shape::of("values ('é''x', 7, 3000000000)").unwrap();
        let values: Vec<_> = shape.literals.into_iter().map(|literal| literal.value).collect();
        let expected = [LiteralValue::Text("é'x".into()), LiteralValue::Int4(7), LiteralValue::Int8(3_000_000_000)];
        assert_eq!(values, expected);
    }

    #[test]
    fn integers_of_different_types_have_different_shapes() {
        let shape = |text: &str| Shape::of(text).unwrap().text;
        assert_eq!(shape("select 1"), shape("select 2"));
        assert_ne!(shape("select 1"), shape("select 3000000000"));
        assert_ne!(shape("select 1"), shape("select '1'"));
    }

    #[test]
    fn texts_whose_literals_take_more_than_a_look_have_no_shape() {
        for text in [
            "select E'\\n'",
            "select U&'d'",
            "select B'1'",
            "select U&\"d\"",
            "select $1",
            "select $$x$$",
            "select ?",
            "select 1 -- one",
            "select /* one */ 1",
            "select /*+ hint */ 1",
            "select 'a'\n'b'",
            "select 1; select 2",
            "begin",
            "set x = 1",
            "select 'open",
            "select \"open",
            "select \u{1}",
            "explain select 1",
            "",
        ] {
            assert_eq!(Shape::of(text), None, "{text}");
        }
    }
}
