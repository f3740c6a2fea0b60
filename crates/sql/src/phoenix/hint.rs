//! `/*+ NO_INDEX(t) */` behind SELECT, UPSERT, INSERT, UPDATE or DELETE: refused, since nothing reads hints yet.
//!
//! Elsewhere such a comment is a comment.

use crate::SqlError;
use crate::lexer::position_of;
use sqlparser::tokenizer::{Token, TokenWithSpan, Whitespace};

/// Gives the tokens back if there is no hint among them.
pub(crate) fn refuse(text: &str, tokens: Vec<TokenWithSpan>) -> Result<Vec<TokenWithSpan>, SqlError> {
    let mut after_verb = false;
    for token in &tokens {
        match &token.token {
            Token::Whitespace(Whitespace::MultiLineComment(comment)) if after_verb && comment.starts_with('+') => {
                let hint = comment.trim_start_matches('+').trim();
                return Err(SqlError::Unsupported {
                    feature: format!("hint {hint}"),
                    hint: Some("Remove the comment that begins with /*+."),
                    position: position_of(text, token.span.start),
                });
            }
            Token::Whitespace(_) => {}
            Token::Word(word) => after_verb = is_verb(&word.value) && word.quote_style.is_none(),
            _ => after_verb = false,
        }
    }
    Ok(tokens)
}

fn is_verb(word: &str) -> bool {
    ["SELECT", "UPSERT", "INSERT", "UPDATE", "DELETE"].iter().any(|verb| word.eq_ignore_ascii_case(verb))
}
