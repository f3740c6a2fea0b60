//! SQL identifiers: case folding, and quoting where SQL needs it.

use crate::keyword::{self, Category};
use std::borrow::Cow;

/// Folds an unquoted name to lower case. Only ASCII letters fold, as in a PostgreSQL database in UTF-8.
pub fn fold(name: &str) -> String {
    name.to_ascii_lowercase()
}

/// Returns the name as SQL must write it: plain, or in double quotes.
pub fn quote(name: &str) -> Cow<'_, str> {
    if is_plain(name) && !is_reserved(name) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(quote_always(name))
}

/// Returns the name in double quotes.
pub fn quote_always(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Returns the name up to its closing double quote, and the rest of the text.
pub fn read_quoted(text: &str) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut rest = text;
    loop {
        let (part, after) = rest.split_once('"')?;
        name.push_str(part);
        match after.strip_prefix('"') {
            Some(more) => {
                name.push('"');
                rest = more;
            }
            None => return Some((name, after)),
        }
    }
}

fn is_plain(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_lowercase() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Returns whether PostgreSQL's `quote_ident` quotes the word.
fn is_reserved(name: &str) -> bool {
    keyword::category(name).is_some_and(|category| category != Category::Unreserved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_quoted_only_when_it_must_be() {
        assert_eq!(quote("flights_2013"), "flights_2013");
        assert_eq!(quote("Flights"), "\"Flights\"");
        assert_eq!(quote("2x"), "\"2x\"");
        assert_eq!(quote("a\"b"), "\"a\"\"b\"");
        assert_eq!(quote("order"), "\"order\"");
        assert_eq!(quote(""), "\"\"");
        assert_eq!(fold("CaRRier"), "carrier");
    }

    #[test]
    fn a_quoted_name_ends_at_its_quote() {
        assert_eq!(read_quoted("a\"\"b\".c"), Some(("a\"b".to_owned(), ".c")));
        assert_eq!(read_quoted("a\"\"b"), None);
    }
}
