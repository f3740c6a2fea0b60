//! `?` parameters: the first of a statement is `$1`, the next `$2`, ….

use crate::SqlError;
use crate::lexer::position_of;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Maximum number of parameters in the wire protocol.
const MAX_PARAMETER: usize = 65_535;

/// Replaces `?` by `$n`, and checks the numbers of `$n` parameters.
pub(crate) fn number(text: &str, tokens: &mut [TokenWithSpan]) -> Result<(), SqlError> {
    let (mut marks, mut numbered) = (0usize, false);
    for token in tokens {
        let mark = match &token.token {
            Token::Question => true,
            Token::Placeholder(name) if name == "?" => true,
            Token::Placeholder(name) => {
                numbered = true;
                check(text, name, token)?;
                false
            }
            _ => false,
        };
        if mark {
            marks += 1;
            token.token = Token::Placeholder(format!("${marks}"));
        }
        if marks > MAX_PARAMETER || (marks > 0 && numbered) {
            let message = if numbered {
                "parameters are written either as ? or as $1, not both".to_owned()
            } else {
                format!("there is no parameter ${marks}: at most {MAX_PARAMETER} are allowed")
            };
            return Err(SqlError::Invalid { message, position: position_of(text, token.span.start) });
        }
    }
    Ok(())
}

fn check(text: &str, name: &str, token: &TokenWithSpan) -> Result<(), SqlError> {
    let number = name.strip_prefix('$').and_then(|digits| digits.parse::<usize>().ok());
    if number.is_some_and(|number| (1..=MAX_PARAMETER).contains(&number)) {
        return Ok(());
    }
    let message = format!("there is no parameter {name}");
    Err(SqlError::Invalid { message, position: position_of(text, token.span.start) })
}
