//! `FETCH FIRST (expression) ROWS ONLY` becomes `LIMIT (expression)`, since sqlparser accepts only a number there.

use super::word::{is_one_of, is_word};
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Replaces FETCH by LIMIT if its number of rows is in parentheses. Before WITH TIES, removes the parentheses of a
/// number.
pub(super) fn replace(mut tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let mut at = 0;
    while at < tokens.len() {
        let Some((close, only)) = tokens.get(at..).and_then(rows) else {
            at += 1;
            continue;
        };
        if only {
            // Removes ROWS ONLY, then FIRST.
            tokens.drain(at + close + 1..at + close + 3);
            tokens.remove(at + 1);
            if let Some(fetch) = tokens.get_mut(at) {
                fetch.token = Token::make_keyword("LIMIT");
            }
        } else if close == 4 {
            tokens.remove(at + close);
            tokens.remove(at + 2);
        }
        at += 1;
    }
    tokens
}

/// Returns the index of the closing parenthesis of `FETCH FIRST (…) ROWS ONLY` or `… WITH TIES`, and whether it is
/// ONLY.
fn rows(tokens: &[TokenWithSpan]) -> Option<(usize, bool)> {
    let [fetch, first, open, ..] = tokens else { return None };
    let begins =
        is_word(&fetch.token, "FETCH") && is_one_of(&first.token, &["FIRST", "NEXT"]) && open.token == Token::LParen;
    if !begins {
        return None;
    }
    let mut depth = 0_usize;
    let closes = |token: &TokenWithSpan| {
        match token.token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    };
    let close = 2 + tokens.get(2..)?.iter().position(closes)?;
    let [rows, only, ..] = tokens.get(close + 1..)? else { return None };
    is_one_of(&rows.token, &["ROW", "ROWS"]).then(|| (close, is_word(&only.token, "ONLY")))
}
