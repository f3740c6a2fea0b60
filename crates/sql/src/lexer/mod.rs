//! Text to tokens, one piece per statement.
//!
//! All checks that need no grammar are made here, before sqlparser builds trees: length, nesting, chains of operators,
//! hints, parameters. Whitespace and comments are dropped.

mod added;
mod bracketed_groups;
mod depth;
mod empty_select;
mod escape;
mod fetch_rows;
mod group_by;
mod joins;
pub(crate) mod keyword;
mod literal;
mod operators;
mod place;
pub(crate) mod row_locks;
mod similar;
mod spelling;
mod tokens;
mod unicode;
mod word;
mod word_order;

pub(crate) use empty_select::NO_COLUMNS;
pub use group_by::DISTINCT_GROUPS;
pub use joins::JOIN_ALIAS;
pub(crate) use joins::written;
pub(crate) use keyword::is_keyword;
pub use place::byte_of;
pub(crate) use place::{Places, end_of, position_at, position_of};

use crate::SqlError;
use crate::phoenix::hint::HintText;
use crate::phoenix::{hint, next_value, parameter};
use sqlparser::tokenizer::{Token, TokenWithSpan, Whitespace};
use std::ops::Range;
use types::{TypeError, interrupt};

pub(crate) use depth::MAX_PARSER_DEPTH;

/// Maximum length of a text: that of a wire message, with room for the tokens in memory.
const MAX_BYTES: usize = 64 << 20;

/// The tokens of one statement, without whitespace and comments.
#[derive(Debug)]
pub(crate) struct Piece {
    /// The tokens; never empty. Their locations are relative to the first of them.
    pub(crate) tokens: Vec<TokenWithSpan>,
    /// Their byte range in the text.
    pub(crate) span: Range<usize>,
    /// Texts of the hints in the statement.
    pub(crate) hints: Vec<HintText>,
    /// May parsing take more stack than an ordinary thread has?
    pub(crate) deep: bool,
}

/// Splits a text at `;`. Statements without tokens are omitted.
pub(crate) fn cut(text: &str) -> Result<Vec<Piece>, SqlError> {
    if text.len() > MAX_BYTES {
        return Err(SqlError::TooLong { bytes: text.len(), limit: MAX_BYTES });
    }
    if let Some(at) = text.bytes().position(|byte| byte == 0) {
        let source = TypeError::InvalidEncoding { detail: "0x00".to_owned() };
        return Err(SqlError::Type { source, position: position_at(text, at) });
    }
    let tokens = tokens::tokenize(text)?;
    let mut places = Places::new(text);
    let mut pieces = Vec::new();
    let mut piece = Vec::new();
    let hints = hint::find(&tokens);
    for token in join_strings(tokens) {
        interrupt::spend(1)?;
        match token.token {
            Token::SemiColon => finish(text, &mut places, std::mem::take(&mut piece), &mut pieces)?,
            _ => piece.push(token),
        }
    }
    finish(text, &mut places, piece, &mut pieces)?;
    if !hints.is_empty() {
        pieces = pieces.into_iter().map(|piece| piece.with_hints(&hints)).collect();
    }
    pieces.iter_mut().for_each(Piece::make_locations_relative);
    Ok(pieces)
}

/// Returns a token as written in the text, for "at or near".
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
    keyword::free_names(&mut tokens);
    let tokens = word_order::replace(similar::replace(next_value::expand(tokens)));
    let tokens = group_by::replace(bracketed_groups::replace(fetch_rows::replace(tokens)));
    let tokens = joins::replace(empty_select::replace(row_locks::replace(tokens)))?;
    let deep = depth::check(text, &tokens)?;
    pieces.push(Piece { tokens: spelling::expand(tokens), span, hints: Vec::new(), deep });
    Ok(())
}

/// Drops whitespace and comments, splits operators, and concatenates `'a'` and `'b'` across a line break, as SQL
/// requires.
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
