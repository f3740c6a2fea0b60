//! Parses the arguments of `\\copy`.

/// `WHAT FROM|TO OTHER_END OPTIONS`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CopyCommand<'a> {
    /// A table with optional columns, or a query in parentheses.
    pub(super) what: &'a str,
    /// Whether it is COPY FROM.
    pub(super) from: bool,
    pub(super) other_end: OtherEnd,
    pub(super) options: &'a str,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum OtherEnd {
    File(String),
    /// `STDIN`, `STDOUT` and psql's `PSTDIN`, `PSTDOUT`.
    Shell,
}

impl<'a> CopyCommand<'a> {
    /// Parses the arguments; `None` if they are invalid.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        let (at, from) = direction(text)?;
        let what = text.get(..at)?.trim();
        let rest = text.get(at..)?.split_once(char::is_whitespace)?.1.trim_start();
        let (other_end, options) = other_end(rest)?;
        (!what.is_empty()).then_some(Self { what, from, other_end, options: options.trim() })
    }
}

/// Position of the first FROM or TO outside of parentheses and quotes, and whether it is FROM.
fn direction(text: &str) -> Option<(usize, bool)> {
    let (mut depth, mut quote, mut word) = (0_usize, None, None);
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        let in_word = quote.is_none() && depth == 0 && (c.is_alphanumeric() || c == '_' || c == '.');
        match (word, in_word) {
            (None, true) => word = Some(at),
            (Some(start), false) => match text.get(start..at)?.to_ascii_uppercase().as_str() {
                "FROM" => return Some((start, true)),
                "TO" => return Some((start, false)),
                _ => word = None,
            },
            _ => {}
        }
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// Parses a quoted file name, in which `''` is a quote, or a word. Returns the rest too.
fn other_end(text: &str) -> Option<(OtherEnd, &str)> {
    let Some(mut rest) = text.strip_prefix('\'') else {
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let end = match word.to_ascii_lowercase().as_str() {
            "" | "program" => return None,
            "stdin" | "stdout" | "pstdin" | "pstdout" => OtherEnd::Shell,
            _ => OtherEnd::File(word.to_owned()),
        };
        return Some((end, rest));
    };
    let mut name = String::new();
    loop {
        let (piece, behind) = rest.split_once('\'')?;
        name += piece;
        match behind.strip_prefix('\'') {
            Some(behind) => {
                name.push('\'');
                rest = behind;
            }
            None => return Some((OtherEnd::File(name), behind)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CopyCommand, OtherEnd};

    #[test]
    fn the_other_end_is_a_file_with_or_without_quotes_or_the_shell() {
        let read = |text| CopyCommand::read(text).map(|c| (c.what, c.from, c.other_end, c.options));
        let file = |name: &str| OtherEnd::File(name.to_owned());
        assert_eq!(read("t from people.csv csv"), Some(("t", true, file("people.csv"), "csv")));
        assert_eq!(read("s.\"from\" (a, \"to\") FROM 'my ''file''.csv' (FORMAT csv)"), {
            Some(("s.\"from\" (a, \"to\")", true, file("my 'file'.csv"), "(FORMAT csv)"))
        });
        assert_eq!(read("(select * from t where a = ')') to stdout"), {
            Some(("(select * from t where a = ')')", false, OtherEnd::Shell, ""))
        });
        assert_eq!(read("from_t TO\tpstdout with csv"), Some(("from_t", false, OtherEnd::Shell, "with csv")));
        for bad in ["", "t", "t from", "from 'x'", "t from 'x", "t from program 'ls'"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
