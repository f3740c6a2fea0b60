//! Where a statement ends.

/// Does `text` end in a `;` outside quotes and comments, or hold nothing but blanks and comments?
pub(super) fn is_complete(text: &str) -> bool {
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
                None => return false,
            },
            // A dollar within a name begins no quote.
            '$' if !within_word => match dollar_quoted(tail) {
                Some(Some(behind)) => {
                    complete = false;
                    behind
                }
                Some(None) => return false,
                None => tail,
            },
            '-' if tail.starts_with('-') => tail.split_once('\n').map_or("", |(_, behind)| behind),
            '/' if tail.starts_with('*') => match behind_comment(tail) {
                Some(behind) => behind,
                None => return false,
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
    complete
}

/// What follows a `$tag$ … $tag$` whose first dollar was read: nothing if it does not end; `None` if it is none.
fn dollar_quoted(text: &str) -> Option<Option<&str>> {
    let (tag, inside) = text.split_once('$')?;
    let is_name = tag.chars().all(|c| c.is_alphanumeric() || c == '_') && !tag.starts_with(|c: char| c.is_numeric());
    is_name.then(|| inside.split_once(&format!("${tag}$")).map(|(_, behind)| behind))
}

/// What follows a `/* … */`, whose `/` was read; comments nest.
fn behind_comment(text: &str) -> Option<&str> {
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
    use super::is_complete;

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
            assert!(is_complete(whole), "{whole}");
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
            assert!(!is_complete(part), "{part}");
        }
    }
}
