//! Refuses literals and names that sqlparser's tokenizer reads differently from PostgreSQL.

use super::place::position_of;
use super::token_text;
use crate::SqlError;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Checks each token together with the next one.
pub(super) fn check(text: &str, tokens: &[TokenWithSpan]) -> Result<(), SqlError> {
    for (token, next) in tokens.iter().zip(tokens.iter().skip(1)) {
        let position = || position_of(text, token.span.start);
        let touches = token.span.end == next.span.start;
        match (&token.token, &next.token) {
            (Token::Number(digits, _), Token::Word(word)) if touches && word.quote_style.is_none() => {
                let message = format!("trailing junk after numeric literal at or near \"{digits}{}\"", word.value);
                return Err(SqlError::Invalid { message, position: position() });
            }
            (Token::SingleQuotedString(_), Token::SingleQuotedString(_)) => {
                let position = position_of(text, next.span.start);
                return Err(SqlError::Syntax { near: Some(token_text(text, next)), expected: None, position });
            }
            _ => {}
        }
    }
    tokens.iter().try_for_each(|token| {
        check_digits(text, token)?;
        check_hex(text, token)
    })
}

/// `1_000` is a number only from PostgreSQL 16 on.
fn check_digits(text: &str, token: &TokenWithSpan) -> Result<(), SqlError> {
    match &token.token {
        Token::Number(digits, _) if digits.contains('_') => {
            let message = format!("trailing junk after numeric literal at or near \"{digits}\"");
            Err(SqlError::Invalid { message, position: position_of(text, token.span.start) })
        }
        _ => Ok(()),
    }
}

/// Refuses `0x1F`, which the tokenizer reads as `X'1F'`: only the text differs, and it is read for these tokens only.
fn check_hex(text: &str, token: &TokenWithSpan) -> Result<(), SqlError> {
    if !matches!(token.token, Token::HexStringLiteral(_)) {
        return Ok(());
    }
    let position = position_of(text, token.span.start);
    if text.as_bytes().get(position.byte) == Some(&b'0') {
        let feature = "a hexadecimal integer".to_owned();
        return Err(SqlError::Unsupported { feature, hint: None, position });
    }
    Ok(())
}
