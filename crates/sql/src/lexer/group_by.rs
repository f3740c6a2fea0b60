//! `GROUP BY DISTINCT …`, `GROUP BY ALL …` and GROUPING SETS inside GROUPING SETS, which sqlparser does not parse.
//!
//! ```text
//!   GROUP BY ALL a, b                                GROUP BY a, b
//!   GROUP BY DISTINCT ROLLUP (a), ROLLUP (b)         GROUP BY "group by distinct"(), ROLLUP (a), ROLLUP (b)
//!   GROUPING SETS (GROUPING SETS (a, b), (a, b))     GROUPING SETS (a, b, (a, b))
//! ```

use super::word::is_word;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// The call that marks GROUP BY DISTINCT. No query calls a function of that name.
pub const DISTINCT_GROUPS: &str = "group by distinct";

/// Replaces these forms by ones that sqlparser parses.
pub(super) fn replace(mut tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let mut at = 0;
    // The open parentheses.
    let mut open: Vec<Parenthesis> = Vec::new();
    while let Some(rest) = tokens.get(at..) {
        match rest {
            [] => break,
            [group, by, distinct, ..]
                if is_word(&group.token, "GROUP")
                    && is_word(&by.token, "BY")
                    && is_word(&distinct.token, "DISTINCT") =>
            {
                let span = distinct.span;
                let marker = [Token::make_word(DISTINCT_GROUPS, Some('"')), Token::LParen, Token::RParen, Token::Comma];
                tokens.splice(at + 2..at + 3, marker.map(|token| TokenWithSpan::new(token, span)));
                // Continues after the marker.
                at += 5;
            }
            [group, by, all, next, ..]
                if is_word(&group.token, "GROUP")
                    && is_word(&by.token, "BY")
                    && is_word(&all.token, "ALL")
                    && begins_group(&next.token) =>
            {
                tokens.remove(at + 2);
            }
            [grouping, sets, paren, ..]
                if is_word(&grouping.token, "GROUPING")
                    && is_word(&sets.token, "SETS")
                    && paren.token == Token::LParen =>
            {
                if open.last().is_some_and(|outer| *outer != Parenthesis::Plain) {
                    tokens.drain(at..at + 3);
                    open.push(Parenthesis::Inner);
                    continue;
                }
                open.push(Parenthesis::Sets);
                at += 2;
            }
            [token, ..] if token.token == Token::LParen => open.push(Parenthesis::Plain),
            [token, ..] if token.token == Token::RParen => {
                let closed = open.pop();
                if closed == Some(Parenthesis::Inner) {
                    tokens.remove(at);
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }
    tokens
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Parenthesis {
    /// Of GROUPING SETS.
    Sets,
    /// Of nested GROUPING SETS, whose sets are added to the outer ones.
    Inner,
    Plain,
}

fn begins_group(token: &Token) -> bool {
    const ENDS: [&str; 10] =
        ["HAVING", "WINDOW", "ORDER", "LIMIT", "OFFSET", "FETCH", "UNION", "INTERSECT", "EXCEPT", "FOR"];
    match token {
        Token::Word(word) => word.quote_style.is_some() || !ENDS.iter().any(|end| word.value.eq_ignore_ascii_case(end)),
        Token::RParen | Token::SemiColon | Token::EOF => false,
        _ => true,
    }
}
