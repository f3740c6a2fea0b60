//! Where a name stands in a statement's text.
//!
//! Errors about names come from planning, which no longer knows the text; a name is found again by reading the text's
//! words, strings and comments left out. The first place is told, which is where PostgreSQL stops too.

use types::ident::fold;

/// The character, from 1, at which `name` (`column`, `table.column`) begins.
pub(super) fn name_in(text: &str, name: &str) -> Option<usize> {
    let wanted: Vec<&str> = name.split('.').collect();
    let words = words(text);
    words.windows(wanted.len()).find_map(|run| {
        let same = run.iter().zip(&wanted).all(|(word, wanted)| word.name == *wanted);
        let joined = run.iter().skip(1).all(|word| word.after_dot);
        let first = run.first().filter(|_| same && joined)?;
        // What a dot precedes belongs to another name.
        (!first.after_dot).then(|| text.get(..first.start).map_or(0, |before| before.chars().count()) + 1)
    })
}

/// The character, from 1, at which a quoted constant begins that says `value`; `None` if several do.
pub(super) fn constant_in(text: &str, value: &str) -> Option<usize> {
    let quoted = format!("'{}'", value.replace('\'', "''"));
    let mut places = tokens(text).filter(|(_, token)| *token == quoted).map(|(start, _)| start);
    let start = places.next().filter(|_| places.next().is_none())?;
    Some(text.get(..start).map_or(0, |before| before.chars().count()) + 1)
}

/// The character, from 1, at which an operator stands; `None` if it stands at several.
pub(super) fn operator_in(text: &str, operator: &str) -> Option<usize> {
    let mut places = operators(text).into_iter().filter(|(_, found)| *found == operator).map(|(start, _)| start);
    let start = places.next().filter(|_| places.next().is_none())?;
    Some(text.get(..start).map_or(0, |before| before.chars().count()) + 1)
}

/// The operators of a text, each with its first byte.
fn operators(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    for (start, token) in tokens(text) {
        if !matches!(token.as_bytes(), [sign] if b"+-*/<>=~!@#%^&|`?".contains(sign)) {
            continue;
        }
        match found.last_mut() {
            Some((first, operator)) if *first + operator.len() == start => operator.push_str(token),
            _ => found.push((start, token.to_owned())),
        }
    }
    found
}

/// The pieces of a text, each with its first byte.
fn tokens(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        let start = at;
        at += length_of(rest);
        Some((start, text.get(start..at).unwrap_or(rest)))
    })
}

/// An identifier of a text.
struct Word {
    name: String,
    /// Its first byte.
    start: usize,
    after_dot: bool,
}

fn words(text: &str) -> Vec<Word> {
    let mut found = Vec::new();
    let mut after_dot = false;
    for (start, token) in tokens(text) {
        if let Some(name) = name_of(token) {
            found.push(Word { name, start, after_dot });
            after_dot = false;
        } else if !token.trim().is_empty() {
            after_dot = token == ".";
        }
    }
    found
}

fn name_of(token: &str) -> Option<String> {
    if let Some(quoted) = token.strip_prefix('"') {
        return Some(quoted.strip_suffix('"').unwrap_or(quoted).replace("\"\"", "\""));
    }
    let first = token.chars().next()?;
    (first.is_alphabetic() || first == '_').then(|| fold(token))
}

/// Bytes of the token that `rest` begins with; at least one character.
fn length_of(rest: &str) -> usize {
    let until = |end: &str, skip: usize| {
        let inner = rest.get(skip..).and_then(|inner| inner.find(end));
        inner.map_or(rest.len(), |place| skip + place + end.len())
    };
    let first = rest.chars().next().unwrap_or(' ');
    match first {
        '\'' => until("'", 1),
        '"' => until("\"", 1),
        '-' if rest.starts_with("--") => until("\n", 2),
        '/' if rest.starts_with("/*") => until("*/", 2),
        _ if first.is_alphanumeric() || first == '_' => {
            rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).unwrap_or(rest.len())
        }
        _ => first.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::{constant_in, name_in, operator_in};

    #[test]
    fn an_operator_is_found_where_it_stands_once() {
        assert_eq!(operator_in("select 'a+b' || 1", "||"), Some(14));
        assert_eq!(operator_in("select 1 + 2 + x", "+"), None);
        assert_eq!(operator_in("select a<=b, c<d", "<"), Some(15));
        assert_eq!(operator_in("select 1 -- + \n+ true", "+"), Some(16));
    }

    #[test]
    fn constants_are_found_when_there_is_one() {
        assert_eq!(constant_in("SELECT timestamp 'x'", "x"), Some(18));
        assert_eq!(constant_in("SELECT 'x', date 'x'", "x"), None);
        assert_eq!(constant_in("SELECT \"x\", /* 'x' */ date 'x'", "x"), Some(28));
    }

    #[test]
    fn names_are_found_as_words() {
        assert_eq!(name_in("SELECT *\nFROM nowhere", "nowhere"), Some(15));
        assert_eq!(name_in("select 'nope', nopes, /* nope */ Nope", "nope"), Some(34));
        assert_eq!(name_in("select t.a, t.b from t", "t.b"), Some(13));
        assert_eq!(name_in("select t.b, b from t", "b"), Some(13));
        assert_eq!(name_in("select \"B c\"", "B c"), Some(8));
        assert_eq!(name_in("select \u{fc}, x", "x"), Some(11));
        assert_eq!(name_in("select 1", "x"), None);
    }
}
