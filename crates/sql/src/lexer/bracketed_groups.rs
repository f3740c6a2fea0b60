//! Grouping keys that begin with a parenthesis, in ROLLUP, CUBE and GROUPING SETS: sqlparser parses the parenthesis as
//! a list of several keys.
//!
//! ```text
//!   CUBE ((a)::text, b)        CUBE (((a)::text), b)
//!   ROLLUP ((a + 1) * 2)       ROLLUP (((a + 1) * 2))
//! ```

use super::added::{add, parentheses};
use super::word::is_word;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// An open parenthesis, and the item of its list that is being read.
struct Open {
    /// Does it list grouping keys?
    lists_keys: bool,
    /// Where the item begins, if it is a key that begins with a parenthesis.
    item: Option<usize>,
    /// Is the parenthesis that the item begins with closed?
    closed: bool,
    /// Do tokens of the item follow that parenthesis?
    continues: bool,
}

impl Open {
    fn new(lists_keys: bool) -> Self {
        Self { lists_keys, item: None, closed: false, continues: false }
    }
}

/// Adds parentheses around such keys.
pub(super) fn replace(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let keys = keys_to_wrap(&tokens);
    add(tokens, keys.into_iter().flat_map(parentheses).collect())
}

/// Returns the index of the first token of each such key, and of the token after the key.
fn keys_to_wrap(tokens: &[TokenWithSpan]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match &token.token {
            Token::LParen => {
                if let Some(list) = open.last_mut().filter(|list| list.lists_keys) {
                    list.continues |= list.closed;
                    if begins_item(tokens, at) {
                        list.item = Some(at);
                    }
                }
                open.push(Open::new(lists_keys(tokens, at)));
            }
            Token::RParen => {
                if let Some(Open { lists_keys: true, item: Some(from), continues: true, .. }) = open.pop() {
                    found.push((from, at));
                }
                if let Some(list) = open.last_mut().filter(|list| list.item.is_some()) {
                    list.closed = true;
                }
            }
            Token::Comma => {
                if let Some(list) = open.last_mut() {
                    if let (Some(from), true) = (list.item, list.continues) {
                        found.push((from, at));
                    }
                    *list = Open::new(list.lists_keys);
                }
            }
            _ => {
                if let Some(list) = open.last_mut() {
                    list.continues |= list.closed;
                }
            }
        }
    }
    found
}

/// Does an item of a list begin with the parenthesis at that place?
fn begins_item(tokens: &[TokenWithSpan], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| tokens.get(at));
    matches!(before.map(|token| &token.token), Some(Token::LParen | Token::Comma))
}

/// Does the parenthesis at that place list grouping keys?
fn lists_keys(tokens: &[TokenWithSpan], at: usize) -> bool {
    let is = |back: usize, word: &str| {
        at.checked_sub(back).and_then(|at| tokens.get(at)).is_some_and(|token| is_word(&token.token, word))
    };
    is(1, "ROLLUP") || is(1, "CUBE") || is(1, "SETS") && is(2, "GROUPING")
}
