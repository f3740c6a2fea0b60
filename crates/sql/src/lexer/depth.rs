//! Bounds on nesting and on chains of operators, judged on tokens.
//!
//! A tree is as deep as its parentheses and as its longest chain (`a + b + c` leans to the left), and whoever
//! walks or drops it needs stack for that depth. The bounds keep that far below the stack of a worker thread.

use super::place::position_of;
use crate::SqlError;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Deepest nesting of `(`, `[` and CASE.
const MAX_NESTING: usize = 100;
/// sqlparser's own bound, which also counts what is nested without parentheses (NOT NOT …).
pub(crate) const MAX_PARSER_DEPTH: usize = 300;
/// Most operators in one chain, that is between two commas at one level of nesting.
const MAX_CHAIN: usize = 2_000;

/// Refuses what would be too deep.
pub(crate) fn check(text: &str, tokens: &[TokenWithSpan]) -> Result<(), SqlError> {
    // One count of operators per open level; the first is the statement itself.
    let mut chains = vec![0usize];
    for token in tokens {
        let too_deep =
            |what, limit| Err(SqlError::TooDeep { what, limit, position: position_of(text, token.span.start) });
        match &token.token {
            Token::LParen | Token::LBracket => {
                chains.push(0);
                if chains.len() > MAX_NESTING {
                    return too_deep("nested levels", MAX_NESTING);
                }
            }
            Token::RParen | Token::RBracket => {
                if chains.len() > 1 {
                    chains.pop();
                }
            }
            Token::Comma => {
                if let Some(chain) = chains.last_mut() {
                    *chain = 0;
                }
            }
            other if links(other) => {
                if let Some(chain) = chains.last_mut() {
                    *chain += 1;
                    if *chain > MAX_CHAIN {
                        return too_deep("operators in one expression", MAX_CHAIN);
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Can this token make a tree one level deeper? Everything can that is neither a value nor a separator.
fn links(token: &Token) -> bool {
    match token {
        Token::Word(word) => {
            word.quote_style.is_none()
                && [
                    "AND",
                    "OR",
                    "NOT",
                    "IS",
                    "BETWEEN",
                    "LIKE",
                    "ILIKE",
                    "SIMILAR",
                    "IN",
                    "CASE",
                    "UNION",
                    "EXCEPT",
                    "INTERSECT",
                    "JOIN",
                    "COLLATE",
                    "AT",
                    "EXPLAIN",
                    "ANY",
                    "ALL",
                    "OVERLAPS",
                    "ISNULL",
                    "NOTNULL",
                ]
                .iter()
                .any(|link| word.value.eq_ignore_ascii_case(link))
        }
        Token::Number(..)
        | Token::SingleQuotedString(_)
        | Token::EscapedStringLiteral(_)
        | Token::DollarQuotedString(_)
        | Token::Placeholder(_)
        | Token::EOF => false,
        _ => true,
    }
}
