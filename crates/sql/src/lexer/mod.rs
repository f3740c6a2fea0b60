//! Text to tokens, one piece per statement.
//!
//! Everything that can be judged without grammar is judged here, before sqlparser builds trees: length,
//! nesting, chains of operators, hints, parameters. Blanks and comments end here.

mod depth;
mod escape;
mod fetch_rows;
mod group_by;
pub(crate) mod keyword;
mod literal;
mod operators;
mod place;
mod similar;
mod spelling;
mod unicode;
mod word_order;

pub use group_by::DISTINCT_GROUPS;
pub(crate) use keyword::is_keyword;
pub(crate) use place::{Places, byte_of, end_of, position_at, position_of};

use crate::SqlError;
use crate::dialect::BennuDialect;
use crate::phoenix::{hint, next_value, parameter};
use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan, Tokenizer, TokenizerError, Whitespace};
use std::ops::Range;
use types::TypeError;

pub(crate) use depth::MAX_PARSER_DEPTH;

/// Longest text: what a wire message may carry, with room for the tokens in memory.
const MAX_BYTES: usize = 64 << 20;

/// Most characters of an unterminated token that an error shows.
const MAX_SHOWN: usize = 60;

/// The tokens of one statement, without blanks and comments.
#[derive(Debug)]
pub(crate) struct Piece {
    /// The tokens; never empty.
    pub(crate) tokens: Vec<TokenWithSpan>,
    /// Their bytes in the text.
    pub(crate) span: Range<usize>,
    /// Reading it may take more stack than an ordinary thread has.
    pub(crate) deep: bool,
}

/// Cuts a text at `;`. Pieces without tokens are left out.
pub(crate) fn cut(text: &str) -> Result<Vec<Piece>, SqlError> {
    if text.len() > MAX_BYTES {
        return Err(SqlError::TooLong { bytes: text.len(), limit: MAX_BYTES });
    }
    if let Some(at) = text.bytes().position(|byte| byte == 0) {
        let source = TypeError::InvalidEncoding { detail: "0x00".to_owned() };
        return Err(SqlError::Type { source, position: position_at(text, at) });
    }
    let tokens = tokenize(text)?;
    let mut places = Places::new(text);
    let mut pieces = Vec::new();
    let mut piece = Vec::new();
    for token in join_strings(hint::refuse(text, tokens)?) {
        match token.token {
            Token::SemiColon => finish(text, &mut places, std::mem::take(&mut piece), &mut pieces)?,
            _ => piece.push(token),
        }
    }
    finish(text, &mut places, piece, &mut pieces)?;
    Ok(pieces)
}

/// A token as it stands in the text: what "at or near" shows.
pub(crate) fn token_text(text: &str, token: &TokenWithSpan) -> String {
    let range = byte_of(text, token.span.start)..byte_of(text, token.span.end);
    text.get(range).filter(|found| !found.is_empty()).map_or_else(|| token.token.to_string(), str::to_owned)
}

fn finish(
    text: &str,
    places: &mut Places<'_>,
    mut tokens: Vec<TokenWithSpan>,
    pieces: &mut Vec<Piece>,
) -> Result<(), SqlError> {
    let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else { return Ok(()) };
    let start = places.byte_of(first.span.start);
    let span = start..places.byte_of(last.span.end);
    tokens = unicode::replace(text, tokens)?;
    literal::check(text, &tokens)?;
    parameter::number(text, &mut tokens)?;
    let tokens = word_order::replace(similar::replace(next_value::expand(tokens)));
    let tokens = group_by::replace(fetch_rows::replace(tokens));
    let deep = depth::check(text, &tokens)?;
    pieces.push(Piece { tokens: spelling::expand(tokens), span, deep });
    Ok(())
}

/// Drops blanks and comments, cuts operators apart, and joins `'a'` and `'b'` where a line break stands between them, as SQL says.
fn join_strings(tokens: Vec<TokenWithSpan>) -> impl Iterator<Item = TokenWithSpan> {
    let mut out: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len());
    let mut new_line = false;
    for token in tokens {
        match (&token.token, out.last_mut()) {
            (Token::Whitespace(Whitespace::Newline | Whitespace::SingleLineComment { .. }), _) => new_line = true,
            (Token::Whitespace(_), _) => {}
            (Token::SingleQuotedString(more), Some(before)) if new_line && is_string(&before.token) => {
                append(&mut before.token, more);
                before.span.end = token.span.end;
            }
            _ => {
                new_line = false;
                operators::split_into(token, &mut out);
            }
        }
    }
    out.into_iter()
}

fn is_string(token: &Token) -> bool {
    matches!(token, Token::SingleQuotedString(_) | Token::EscapedStringLiteral(_) | Token::NationalStringLiteral(_))
}

fn append(token: &mut Token, more: &str) {
    if let Token::SingleQuotedString(text) | Token::EscapedStringLiteral(text) | Token::NationalStringLiteral(text) =
        token
    {
        text.push_str(more);
    }
}

/// Tokenises; an error stands where the token begins that has no end, and is called what PostgreSQL calls it.
fn tokenize(text: &str) -> Result<Vec<TokenWithSpan>, SqlError> {
    let dialect = BennuDialect::for_tokens(0);
    let mut tokens = Vec::new();
    // Where the tokenizer begins: the byte, and its line and column.
    let (mut begin, mut origin) = (0, Location::new(1, 1));
    loop {
        let mut found = Vec::new();
        let rest = text.get(begin..).unwrap_or_default();
        let outcome = Tokenizer::new(&dialect, rest).tokenize_with_location_into_buf(&mut found);
        tokens.extend(found.into_iter().map(|token| escape::moved(token, origin)));
        let Err(error) = outcome else { return Ok(tokens) };
        let start = tokens.last().map_or(begin, |last| byte_of(text, last.span.end));
        let rest = text.get(start..).unwrap_or_default();
        match escape::read(rest) {
            Some(Ok((value, length))) => {
                let from = tokens.last().map_or(origin, |last| last.span.end);
                let end = escape::after(from, rest.get(..length).unwrap_or_default());
                tokens.push(TokenWithSpan::new(Token::EscapedStringLiteral(value), Span::new(from, end)));
                (begin, origin) = (start + length, end);
            }
            Some(Err(source)) => return Err(SqlError::Type { source, position: position_at(text, start) }),
            None => {
                let Some((token, length)) = unicode::with_backslashes(rest) else {
                    return Err(unterminated(text, start, error));
                };
                let from = tokens.last().map_or(origin, |last| last.span.end);
                let end = escape::after(from, rest.get(..length).unwrap_or_default());
                tokens.push(TokenWithSpan::new(token, Span::new(from, end)));
                (begin, origin) = (start + length, end);
            }
        }
    }
}

fn unterminated(text: &str, start: usize, error: TokenizerError) -> SqlError {
    let rest = text.get(start..).unwrap_or_default();
    let what = if rest.starts_with("/*") {
        "unterminated /* comment"
    } else if rest.starts_with('$') {
        "unterminated dollar-quoted string"
    } else if rest.starts_with('"') {
        "unterminated quoted identifier"
    } else if rest.contains('\'') {
        "unterminated quoted string"
    } else {
        return SqlError::Invalid { message: error.message, position: position_of(text, error.location) };
    };
    let shown: String = rest.chars().take(MAX_SHOWN).collect();
    SqlError::Invalid { message: format!("{what} at or near \"{shown}\""), position: position_at(text, start) }
}
