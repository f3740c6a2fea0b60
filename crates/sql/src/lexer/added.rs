//! Insertion of tokens that the text does not have.

use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Inserts each token in front of the one at its index, with the start and end of that one.
pub(super) fn add(tokens: Vec<TokenWithSpan>, mut added: Vec<(usize, Token)>) -> Vec<TokenWithSpan> {
    if added.is_empty() {
        return tokens;
    }
    let mut out = Vec::with_capacity(tokens.len() + added.len());
    added.sort_by_key(|(at, _)| *at);
    let mut added = added.into_iter().peekable();
    for (at, token) in tokens.into_iter().enumerate() {
        while let Some((_, new)) = added.next_if(|(before, _)| *before == at) {
            out.push(TokenWithSpan::new(new, token.span));
        }
        out.push(token);
    }
    out
}

/// Returns parentheses around the tokens `from..to`.
pub(super) fn parentheses((from, to): (usize, usize)) -> [(usize, Token); 2] {
    [(from, Token::LParen), (to, Token::RParen)]
}
