//! Arrays as text: `{1,NULL,"a b"}`; nested arrays have their own braces.

use crate::temporal::ZoneRules;
use crate::{DataType, Datum, TypeError, text};

/// Maximum dimensions of an array, PostgreSQL's `MAXDIM`.
pub const MAX_DIMENSIONS: usize = 6;

/// Maximum elements of an array whose input has fewer bytes than the array.
pub const MAX_ITEMS: usize = 1 << 20;

/// Parses an array whose elements are of type `element`, with a session's zone and style.
///
/// # Errors
/// [`TypeError::BadArray`] for invalid text, [`TypeError::TooManyDimensions`], [`TypeError::TooManyItems`], and errors
/// of the element type.
pub(crate) fn parse_array_in(element: &DataType, input: &str, rules: &dyn ZoneRules) -> Result<Datum, TypeError> {
    let malformed = || TypeError::BadArray { message: format!("malformed array literal: \"{input}\"") };
    let body = input.trim_matches(is_space);
    let (bounds, body) = match bounds_before(body) {
        Some((bounds, body)) => (Some(bounds), body),
        None => (None, body),
    };
    if bounds.iter().flatten().any(|(first, _)| *first != 1) {
        return Err(TypeError::ArrayBounds { input: input.to_owned() });
    }
    let mut reader = Reader { element: *element, rest: body, items: 0, rules };
    let array = reader.array(1)?.ok_or_else(malformed)?;
    if !reader.rest.trim_matches(is_space).is_empty() {
        return Err(malformed());
    }
    let Some(sizes) = even(&array) else { return Err(malformed()) };
    // Bounds that start at 1 must equal the sizes.
    let fits = |bounds: Vec<(i64, i64)>| bounds.iter().map(|(_, last)| usize::try_from(*last).unwrap_or(0)).eq(sizes);
    if bounds.is_none_or(fits) { Ok(Datum::Array(array)) } else { Err(malformed()) }
}

/// Returns the bounds of each dimension, if `[1:3][2]=` precedes the array, and the text after them.
fn bounds_before(body: &str) -> Option<(Vec<(i64, i64)>, &str)> {
    let mut bounds = Vec::new();
    let mut rest = body;
    while let Some(behind) = rest.strip_prefix('[') {
        let (places, behind) = behind.split_once(']')?;
        let place = |text: &str| text.trim_matches(is_space).parse().ok();
        bounds.push(match places.split_once(':') {
            Some((first, last)) => (place(first)?, place(last)?),
            None => (1, place(places)?),
        });
        rest = behind.trim_start_matches(is_space);
    }
    let rest = rest.strip_prefix('=').filter(|_| !bounds.is_empty())?;
    Some((bounds, rest.trim_start_matches(is_space)))
}

/// Returns the sizes of the dimensions, none for an empty array; only the length if nested parts differ in size.
pub fn dimensions(array: &[Datum]) -> Vec<usize> {
    even(array).unwrap_or_else(|| vec![array.len()])
}

fn even(array: &[Datum]) -> Option<Vec<usize>> {
    if array.is_empty() {
        return Some(Vec::new());
    }
    let inner = |item: &Datum| match item {
        Datum::Array(inner) => even(inner),
        _ => Some(Vec::new()),
    };
    let (first, others) = array.split_first()?;
    let first = inner(first)?;
    for item in others {
        if inner(item)? != first {
            return None;
        }
    }
    let mut all = vec![array.len()];
    all.extend(first);
    Some(all)
}

struct Reader<'a> {
    element: DataType,
    rest: &'a str,
    /// How many elements were read.
    items: usize,
    rules: &'a dyn ZoneRules,
}

impl Reader<'_> {
    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start_matches(is_space);
    }

    fn eat(&mut self, mark: char) -> bool {
        self.skip_blanks();
        match self.rest.strip_prefix(mark) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Parses an array at a nesting depth. `None` for invalid text.
    fn array(&mut self, depth: usize) -> Result<Option<Vec<Datum>>, TypeError> {
        if !self.eat('{') {
            return Ok(None);
        }
        if depth > MAX_DIMENSIONS {
            return Err(TypeError::TooManyDimensions { found: depth });
        }
        let mut items = Vec::new();
        if self.eat('}') {
            return Ok(Some(items));
        }
        loop {
            self.skip_blanks();
            let item = if self.rest.starts_with('{') {
                self.array(depth + 1)?.map(Datum::Array)
            } else {
                match self.item() {
                    Some((word, quoted)) if !quoted && word.eq_ignore_ascii_case("null") => Some(Datum::Null),
                    Some((word, _)) => Some(text::parse_in(&self.element, &word, self.rules)?),
                    None => None,
                }
            };
            let Some(item) = item else { return Ok(None) };
            items.push(item);
            self.items += 1;
            if self.items > MAX_ITEMS {
                return Err(TypeError::TooManyItems);
            }
            if self.eat('}') {
                return Ok(Some(items));
            }
            if !self.eat(',') {
                return Ok(None);
            }
        }
    }

    /// Returns the text of an element, and whether it was quoted.
    fn item(&mut self) -> Option<(String, bool)> {
        let mut word = String::new();
        let quoted = self.eat('"');
        // Trailing blanks of an unquoted word are not part of it, unless they are escaped.
        let mut kept = 0;
        loop {
            let letter = self.rest.chars().next()?;
            if !quoted && matches!(letter, ',' | '}') {
                word.truncate(kept);
                return (!word.is_empty()).then_some((word, false));
            }
            self.rest = self.rest.get(letter.len_utf8()..)?;
            match letter {
                '"' if quoted => return Some((word, true)),
                '"' | '{' if !quoted => return None,
                '\\' => {
                    let escaped = self.rest.chars().next()?;
                    self.rest = self.rest.get(escaped.len_utf8()..)?;
                    word.push(escaped);
                    kept = word.len();
                }
                _ => {
                    word.push(letter);
                    if !is_space(letter) {
                        kept = word.len();
                    }
                }
            }
        }
    }
}

/// Appends `{1,NULL,"a b"}`; `print` appends elements that are neither NULL nor arrays.
pub fn print_array_by(items: &[Datum], print: &mut dyn FnMut(&Datum, &mut String), out: &mut String) {
    out.push('{');
    for (place, item) in items.iter().enumerate() {
        if place > 0 {
            out.push(',');
        }
        match item {
            Datum::Null => out.push_str("NULL"),
            Datum::Array(inner) => print_array_by(inner, print, out),
            item => {
                let mut word = String::new();
                print(item, &mut word);
                push_quoted(&word, out);
            }
        }
    }
    out.push('}');
}

/// Returns whether PostgreSQL skips the character around elements: it does not skip other blanks of Unicode.
fn is_space(letter: char) -> bool {
    matches!(letter, ' ' | '\t'..='\r')
}

/// Appends an element, in quotes if it would be misread.
fn push_quoted(word: &str, out: &mut String) {
    let plain = !word.is_empty()
        && !word.eq_ignore_ascii_case("null")
        && !word.contains(|c: char| matches!(c, '{' | '}' | ',' | '"' | '\\') || is_space(c));
    if plain {
        out.push_str(word);
        return;
    }
    out.push('"');
    for letter in word.chars() {
        if matches!(letter, '"' | '\\') {
            out.push('\\');
        }
        out.push(letter);
    }
    out.push('"');
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::ElementType;

    fn round(element: ElementType, input: &str) -> Result<String, TypeError> {
        let array = DataType::Array(element);
        let mut out = String::new();
        text::print(&array, &text::parse(&array, input)?, &mut out);
        Ok(out)
    }

    #[test]
    fn arrays_are_read_and_printed() {
        for (element, input, want) in [
            (ElementType::Integer, "{1, 2,NULL}", "{1,2,NULL}"),
            (ElementType::Integer, " { } ", "{}"),
            (ElementType::Integer, "{{1,2},{3,4}}", "{{1,2},{3,4}}"),
            (ElementType::Integer, "[1:2]={1,2}", "{1,2}"),
            (
                ElementType::Text,
                r#"{a b , "x,y", "", "NULL", null, "a\"b\\"}"#,
                r#"{"a b","x,y","","NULL",NULL,"a\"b\\"}"#,
            ),
            (ElementType::Timestamp, "{2024-01-02 03:04:05}", "{\"2024-01-02 03:04:05\"}"),
        ] {
            assert_eq!(round(element, input).unwrap(), want, "{input}");
        }
        for input in ["", "1", "{1", "{1,}", "{1}}", "{{1,2},{3}}", "{a\"b\"}"] {
            assert!(matches!(round(ElementType::Text, input), Err(TypeError::BadArray { .. })), "{input}");
        }
        assert!(matches!(round(ElementType::Integer, "{x}"), Err(TypeError::InvalidText { .. })));
        assert_eq!(round(ElementType::Integer, "{{{{{{1}}}}}}").unwrap(), "{{{{{{1}}}}}}");
        for depth in [7, 1_000_000] {
            let deep = format!("{}1{}", "{".repeat(depth), "}".repeat(depth));
            assert_eq!(round(ElementType::Integer, &deep), Err(TypeError::TooManyDimensions { found: 7 }));
        }
    }

    #[test]
    fn an_array_has_no_more_elements_than_the_limit() {
        let literal = |items: usize| format!("{{{}1}}", "1,".repeat(items - 1));
        let read = |items: usize| text::parse(&DataType::Array(ElementType::Integer), &literal(items));
        assert!(read(MAX_ITEMS).is_ok());
        assert_eq!(read(MAX_ITEMS + 1), Err(TypeError::TooManyItems));
    }

    #[test]
    fn dimensions_are_counted() {
        let array = text::parse(&DataType::Array(ElementType::Integer), "{{1,2,3},{4,5,6}}").unwrap();
        let Datum::Array(items) = array else { unreachable!() };
        assert_eq!(dimensions(&items), [2, 3]);
        assert!(dimensions(&[]).is_empty());
    }
}
