//! `substring(x SIMILAR pattern ESCAPE e)` becomes `substring(x FROM pattern FOR e)`, which is equivalent.

use super::word::is_word;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Replaces SIMILAR and ESCAPE by FROM and FOR.
pub(super) fn replace(mut tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    if !tokens.iter().any(|token| is_word(&token.token, "SIMILAR")) {
        return tokens;
    }
    let mut calls: Vec<Call> = Vec::new();
    let mut before: Option<Token> = None;
    let following: Vec<Token> = tokens.iter().skip(1).map(|token| token.token.clone()).collect();
    for (at, token) in tokens.iter_mut().enumerate() {
        match &token.token {
            Token::LParen => {
                let substring = before.as_ref().is_some_and(|before| is_word(before, "SUBSTRING"));
                calls.push(if substring { Call::Substring } else { Call::Other });
            }
            Token::RParen => {
                calls.pop();
            }
            word if is_word(word, "SIMILAR") && !following.get(at).is_some_and(|next| is_word(next, "TO")) => {
                if let Some(call @ Call::Substring) = calls.last_mut() {
                    *call = Call::Similar;
                    token.token = Token::make_keyword("FROM");
                }
            }
            word if is_word(word, "ESCAPE") => {
                if let Some(call @ Call::Similar) = calls.last_mut() {
                    *call = Call::Other;
                    token.token = Token::make_keyword("FOR");
                }
            }
            _ => {}
        }
        before = Some(token.token.clone());
    }
    tokens
}

/// The call that a parenthesis belongs to.
enum Call {
    /// `substring`.
    Substring,
    /// `substring`, after SIMILAR.
    Similar,
    Other,
}
