//! Grouping keys that begin with a parenthesis, in ROLLUP, CUBE and GROUPING SETS: sqlparser takes that for the list of several keys.
//!
//! ```text
//!   CUBE ((a)::text, b)        CUBE (((a)::text), b)
//!   ROLLUP ((a + 1) * 2)       ROLLUP (((a + 1) * 2))
//! ```

use sqlparser::tokenizer::{Token, TokenWithSpan};

/// An open parenthesis.
struct Open {
    /// Are keys what stands in it?
    keys: bool,
    /// Where the key that is being read begins, if with a parenthesis.
    begins: Option<usize>,
    /// Is that closed?
    closed: bool,
    /// Does more of the key follow?
    goes_on: bool,
}

impl Open {
    fn new(keys: bool) -> Self {
        Self { keys, begins: None, closed: false, goes_on: false }
    }
}

/// Puts parentheses around such keys.
pub(super) fn replace(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let wrapped = wrapped(&tokens);
    if wrapped.is_empty() {
        return tokens;
    }
    let mut out = Vec::with_capacity(tokens.len() + wrapped.len() * 2);
    let mut marks: Vec<(usize, Token)> =
        wrapped.into_iter().flat_map(|(from, to)| [(from, Token::LParen), (to, Token::RParen)]).collect();
    marks.sort_by_key(|(at, _)| *at);
    let mut marks = marks.into_iter().peekable();
    for (at, token) in tokens.into_iter().enumerate() {
        while let Some((_, mark)) = marks.next_if(|(place, _)| *place == at) {
            out.push(TokenWithSpan::new(mark, token.span));
        }
        out.push(token);
    }
    out
}

/// The first token of each such key, and the one behind it.
fn wrapped(tokens: &[TokenWithSpan]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match &token.token {
            Token::LParen => {
                let first = begins_key(tokens, at);
                if let Some(outer) = open.last_mut().filter(|outer| outer.keys) {
                    outer.goes_on |= outer.closed;
                    if first {
                        outer.begins = Some(at);
                    }
                }
                open.push(Open::new(lists_keys(tokens, at)));
            }
            Token::RParen => {
                if let Some(Open { keys: true, begins: Some(from), goes_on: true, .. }) = open.pop() {
                    found.push((from, at));
                }
                if let Some(outer) = open.last_mut().filter(|outer| outer.begins.is_some()) {
                    outer.closed = true;
                }
            }
            Token::Comma => {
                if let Some(list) = open.last_mut() {
                    if let (Some(from), true) = (list.begins, list.goes_on) {
                        found.push((from, at));
                    }
                    *list = Open::new(list.keys);
                }
            }
            _ => {
                if let Some(list) = open.last_mut() {
                    list.goes_on |= list.closed;
                }
            }
        }
    }
    found
}

/// Does a key begin with the parenthesis at that place?
fn begins_key(tokens: &[TokenWithSpan], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| tokens.get(at));
    matches!(before.map(|token| &token.token), Some(Token::LParen | Token::Comma))
}

/// Do keys stand in the parenthesis at that place?
fn lists_keys(tokens: &[TokenWithSpan], at: usize) -> bool {
    let word = |back: usize, wanted: &str| {
        let token = at.checked_sub(back).and_then(|at| tokens.get(at));
        token.is_some_and(|token| {
            matches!(&token.token, Token::Word(word)
                if word.quote_style.is_none() && word.value.eq_ignore_ascii_case(wanted))
        })
    };
    word(1, "ROLLUP") || word(1, "CUBE") || word(1, "SETS") && word(2, "GROUPING")
}
