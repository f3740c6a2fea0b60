//! Forms of joins that sqlparser does not parse.
//!
//! ```text
//!   a JOIN b JOIN c ON p ON q        a JOIN (b JOIN c ON p) ON q
//!   a JOIN b USING (k) AS j          a JOIN b USING (k, "join alias".j)
//! ```

use super::added::{add, parentheses};
use super::keyword::is_no_relation;
use super::place::Places;
use super::tokens::tokenize;
use super::word::{is_one_of, is_word};
use crate::SqlError;
use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::interrupt;

/// Qualifies the alias in the column list of USING, whose columns have no qualifier. A text with it can be parsed
/// again.
pub const JOIN_ALIAS: &str = "join alias";

/// Replaces these forms by ones that sqlparser parses.
///
/// # Errors
/// [`SqlError`] if parsing is cancelled.
pub(super) fn replace(mut tokens: Vec<TokenWithSpan>) -> Result<Vec<TokenWithSpan>, SqlError> {
    if !tokens.iter().any(|token| is_word(&token.token, "JOIN")) {
        return Ok(tokens);
    }
    let Found { nested, aliases } = find(&tokens)?;
    let mut added: Vec<(usize, Token)> = nested.into_iter().flat_map(parentheses).collect();
    for close in aliases {
        if let Some([point, alias, end]) = tokens.get_mut(close..close + 3) {
            // The new tokens keep the locations of the alias and of the end of the join.
            point.token = Token::Period;
            *alias = end.clone();
            end.token = Token::RParen;
            added.extend([(close, Token::Comma), (close, Token::make_word(JOIN_ALIAS, Some('"')))]);
        }
    }
    Ok(add(tokens, added))
}

/// Returns the text of a parsed query, with each alias as it was written.
pub(crate) fn written(text: String) -> String {
    if !text.contains(JOIN_ALIAS) {
        return text;
    }
    let mut tokens = tokenize(&text).unwrap_or_default();
    tokens.retain(|token| !matches!(token.token, Token::Whitespace(_)));
    let (mut places, mut out, mut from) = (Places::new(&text), String::with_capacity(text.len()), 0);
    for using in 0..tokens.len() {
        let Some([.., comma, marker, point, alias, close]) = columns_of_using(&tokens, using) else { continue };
        let is_marker = matches!(&marker.token, Token::Word(word) if word.value == JOIN_ALIAS);
        if !is_marker || comma.token != Token::Comma || point.token != Token::Period {
            continue;
        }
        out.push_str(text.get(from..places.byte_of(comma.span.start)).unwrap_or_default());
        out.push_str(") AS ");
        let alias = places.byte_of(alias.span.start)..places.byte_of(alias.span.end);
        out.push_str(text.get(alias).unwrap_or_default());
        from = places.byte_of(close.span.end);
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}

/// The tokens to replace.
#[derive(Default)]
struct Found {
    /// Right sides that are joins: index of the first token, and of the one after the last.
    nested: Vec<(usize, usize)>,
    /// Indexes of the closing parentheses of USING lists with an alias.
    aliases: Vec<usize>,
}

/// A join whose condition is still expected.
struct Join {
    /// Index of the first token of its right side.
    right: usize,
    /// Is the right side a join?
    is_nested: bool,
}

fn find(tokens: &[TokenWithSpan]) -> Result<Found, SqlError> {
    let mut found = Found::default();
    let mut above: Vec<Vec<Join>> = Vec::new();
    let mut level: Vec<Join> = Vec::new();
    for (at, TokenWithSpan { token, .. }) in tokens.iter().enumerate() {
        interrupt::spend(1)?;
        match token {
            _ if is_label(tokens, at) => {}
            Token::LParen | Token::LBracket => above.push(std::mem::take(&mut level)),
            Token::RParen | Token::RBracket => level = above.pop().unwrap_or_default(),
            word if is_word(word, "JOIN") => {
                if let Some(outer) = level.last_mut() {
                    outer.is_nested = true;
                }
                if takes_condition(tokens.get(..at).unwrap_or_default()) {
                    level.push(Join { right: at + 1, is_nested: false });
                }
            }
            word if is_one_of(word, &["ON", "USING"]) => {
                // Without a join in front of it, the keyword belongs to another clause.
                let Some(join) = level.pop() else { continue };
                if join.is_nested {
                    found.nested.push((join.right, at));
                }
                found.aliases.extend(alias_behind(tokens, at));
            }
            _ => {}
        }
    }
    Ok(found)
}

/// After a period or AS any word is a name.
fn is_label(tokens: &[TokenWithSpan], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| tokens.get(before));
    before.is_some_and(|before| before.token == Token::Period || is_word(&before.token, "AS"))
}

/// Does the JOIN after these tokens take ON or USING?
fn takes_condition(before: &[TokenWithSpan]) -> bool {
    let sides = ["INNER", "LEFT", "RIGHT", "FULL", "OUTER"];
    let kind = before.iter().rposition(|token| !is_one_of(&token.token, &sides));
    let is_kind = |at: usize| {
        before.get(at).is_some_and(|token| is_one_of(&token.token, &["CROSS", "NATURAL"])) && !is_label(before, at)
    };
    !kind.is_some_and(is_kind)
}

/// Returns the tokens from the USING at that index to the parenthesis after its columns.
fn columns_of_using(tokens: &[TokenWithSpan], using: usize) -> Option<&[TokenWithSpan]> {
    let from = tokens.get(using..)?;
    let [word, open, ..] = from else { return None };
    if !is_word(&word.token, "USING") || open.token != Token::LParen {
        return None;
    }
    from.get(..=from.iter().position(|token| token.token == Token::RParen)?)
}

/// Returns the index where the columns of that USING end, if an alias follows.
fn alias_behind(tokens: &[TokenWithSpan], using: usize) -> Option<usize> {
    let close = using + columns_of_using(tokens, using)?.len() - 1;
    match tokens.get(close + 1..close + 3)? {
        [word, alias] => (is_word(&word.token, "AS") && is_name(&alias.token)).then_some(close),
        _ => None,
    }
}

/// Can the token name a relation?
fn is_name(token: &Token) -> bool {
    matches!(token, Token::Word(word) if word.quote_style.is_some() || !is_no_relation(&word.value))
}
