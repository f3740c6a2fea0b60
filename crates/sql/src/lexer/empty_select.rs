//! SELECT without columns and without FROM, which sqlparser does not parse.
//!
//! ```text
//!   EXISTS (SELECT)        EXISTS (SELECT "no columns"())      `rewrite.rs` removes the call
//!   SELECT WHERE x         SELECT "no columns"() WHERE x
//! ```

use super::word::{is_one_of, is_word};
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// The call in place of the columns. No query calls a function of that name.
pub(crate) const NO_COLUMNS: &str = "no columns";

/// Keywords that may follow the columns of SELECT, except FROM. All are reserved, so no unquoted column has such a
/// name.
const BEHIND: [&str; 12] =
    ["WHERE", "GROUP", "HAVING", "WINDOW", "UNION", "INTERSECT", "EXCEPT", "ORDER", "LIMIT", "OFFSET", "FETCH", "FOR"];

/// Inserts the call after each SELECT without columns.
pub(super) fn replace(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let is_empty = |at: usize| is_select(&tokens, at) && ends_columns(tokens.get(at + 1));
    if !(0..tokens.len()).any(is_empty) {
        return tokens;
    }
    let mut out = Vec::with_capacity(tokens.len() + 3);
    for (at, token) in tokens.iter().enumerate() {
        out.push(token.clone());
        if is_empty(at) {
            let call = [Token::make_word(NO_COLUMNS, Some('"')), Token::LParen, Token::RParen];
            out.extend(call.map(|part| TokenWithSpan::new(part, token.span)));
        }
    }
    out
}

/// Is it the keyword SELECT where a query may begin? `AS select` may name a column, except in CREATE … AS.
fn is_select(tokens: &[TokenWithSpan], at: usize) -> bool {
    let creates = tokens.first().is_some_and(|token| is_word(&token.token, "CREATE"));
    let before = at.checked_sub(1).and_then(|at| tokens.get(at)).map(|token| &token.token);
    let begins = match before {
        None | Some(Token::LParen | Token::RParen) => true,
        Some(token) if is_word(token, "AS") => creates,
        Some(token) => is_one_of(token, &["UNION", "INTERSECT", "EXCEPT", "ALL", "EXPLAIN", "ANALYZE"]),
    };
    begins && tokens.get(at).is_some_and(|token| is_word(&token.token, "SELECT"))
}

fn ends_columns(next: Option<&TokenWithSpan>) -> bool {
    match next.map(|token| &token.token) {
        None | Some(Token::RParen | Token::EOF | Token::SemiColon) => true,
        Some(token) => is_one_of(token, &BEHIND),
    }
}
