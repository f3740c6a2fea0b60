//! Splits operators that sqlparser's tokenizer reads too long.
//!
//! PostgreSQL's rule: an operator of several characters ends in `+` or `-` only if it contains one of `~!@#%^&|`, `?`
//! or a back quote; so `a<-1` is `a < -1`. A `?` at the end is a parameter: `a>=?`.
//!
//! `==`, which the tokenizer reads as `=`, becomes an operator that does not exist.

use crate::dialect::BennuDialect;
use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan, Tokenizer};

/// Appends the token, or the tokens that it consists of.
pub(super) fn split_into(token: TokenWithSpan, out: &mut Vec<TokenWithSpan>) {
    if token.token == Token::DoubleEq {
        out.push(TokenWithSpan { token: Token::CustomBinaryOperator("==".to_owned()), ..token });
        return;
    }
    let Token::CustomBinaryOperator(symbol) = &token.token else {
        out.push(token);
        return;
    };
    let kept = kept_length(symbol);
    if kept == symbol.len() {
        out.push(token);
        return;
    }
    let (operator, rest) = symbol.split_at(kept);
    let start = token.span.start;
    let mut column = start.column;
    for piece in std::iter::once(operator).chain(rest.split_inclusive(|_: char| true)) {
        let from = Location { line: start.line, column };
        column += piece.len() as u64;
        let span = Span { start: from, end: Location { line: start.line, column } };
        out.push(TokenWithSpan { token: symbol_token(piece), span });
    }
}

/// Returns the length of the first operator.
fn kept_length(symbol: &str) -> usize {
    let mut kept = symbol;
    loop {
        let shorter = match kept.strip_suffix('?') {
            Some(shorter) => Some(shorter),
            None if kept.contains(['~', '!', '@', '#', '%', '^', '&', '|', '`', '?']) => None,
            None => kept.strip_suffix(['+', '-']),
        };
        match shorter {
            Some(shorter) if !shorter.is_empty() => kept = shorter,
            _ => return kept.len(),
        }
    }
}

/// Returns the token of a single symbol.
fn symbol_token(symbol: &str) -> Token {
    if symbol == "?" {
        return Token::Placeholder("?".to_owned());
    }
    let dialect = BennuDialect::for_tokens(&[]);
    match Tokenizer::new(&dialect, symbol).tokenize() {
        Ok(mut tokens) if tokens.len() == 1 => tokens.remove(0),
        _ => Token::CustomBinaryOperator(symbol.to_owned()),
    }
}
