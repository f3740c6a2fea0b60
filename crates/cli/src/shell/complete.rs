//! Finds the end of a statement.

/// State of the input at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// Ends in a `;` outside quotes and comments, or has only white space and comments.
    Complete,
    /// The statement goes on.
    Begun,
    /// The statement goes on within quotes or a comment.
    Quoted,
}

/// Returns the state at the end of `text`.
pub(super) fn extent(text: &str) -> Extent {
    let mut rest = text;
    let mut complete = true;
    let mut before = ' ';
    while let Some(c) = rest.chars().next() {
        let tail = rest.get(c.len_utf8()..).unwrap_or_default();
        let within_word = before.is_alphanumeric() || before == '_';
        before = c;
        rest = match c {
            '\'' | '"' => match tail.split_once(c) {
                Some((_, behind)) => {
                    complete = false;
                    behind
                }
                None => return Extent::Quoted,
            },
            // A dollar within a name does not begin a quote.
            '$' if !within_word => match dollar_quoted(tail) {
                Some(Some(behind)) => {
                    complete = false;
                    behind
                }
                Some(None) => return Extent::Quoted,
                None => tail,
            },
            '-' if tail.starts_with('-') => tail.split_once('\n').map_or("", |(_, behind)| behind),
            '/' if tail.starts_with('*') => match skip_comment(tail) {
                Some(behind) => behind,
                None => return Extent::Quoted,
            },
            ';' => {
                complete = true;
                tail
            }
            c if c.is_whitespace() => tail,
            _ => {
                complete = false;
                tail
            }
        };
    }
    if complete { Extent::Complete } else { Extent::Begun }
}

/// The text behind a `$tag$ … $tag$` whose first dollar was read. `Some(None)` if it is unterminated; `None` if it is
/// not
/// a dollar quote.
fn dollar_quoted(text: &str) -> Option<Option<&str>> {
    let (tag, inside) = text.split_once('$')?;
    let is_name = tag.chars().all(|c| c.is_alphanumeric() || c == '_') && !tag.starts_with(|c: char| c.is_numeric());
    is_name.then(|| inside.split_once(&format!("${tag}$")).map(|(_, behind)| behind))
}

/// The text behind a `/* … */` whose `/` was read; comments nest.
fn skip_comment(text: &str) -> Option<&str> {
    let mut rest = text.strip_prefix('*')?;
    let mut depth = 1;
    while depth > 0 {
        let (open, close) = (rest.find("/*"), rest.find("*/")?);
        let at = match open {
            Some(open) if open < close => {
                depth += 1;
                open
            }
            _ => {
                depth -= 1;
                close
            }
        };
        rest = rest.get(at + 2..)?;
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::{Extent, extent};

    #[test]
    fn a_statement_ends_at_a_semicolon_outside_quotes_and_comments() {
        for whole in [
            "select 1;\n",
            "select ';' ; -- done\n",
            "  \n",
            "/* a /* b */ ; */ \n",
            "select 'it''s';",
            "select $$a\"b'$$;",
            "select $x$;$$;$x$;",
            "select $1;",
        ] {
            assert_eq!(extent(whole), Extent::Complete, "{whole}");
        }
        for part in [
            "select ';\n",
            "select 1 -- ;\n",
            "select 'a'",
            "select \"a;",
            "/* ; \n",
            "/* /* */ ;",
            "select 1; select",
            "select $$;",
            "select $a$;$$",
        ] {
            assert_ne!(extent(part), Extent::Complete, "{part}");
        }
        for (part, quoted) in [("select 'a\n", true), ("/* a\n", true), ("select $$\n", true), ("select 'a',\n", false)]
        {
            assert_eq!(extent(part) == Extent::Quoted, quoted, "{part}");
        }
    }
}
