//! `CHECK (…)` of a column or a table.

use super::{Cursor, Parse};
use crate::statement::{CheckDef, WrittenExpr};
use sqlparser::tokenizer::Token;

/// Parses `CHECK (condition)`, after its name if it has one.
pub(super) fn check_def(c: &mut Cursor<'_>, name: Option<String>) -> Parse<CheckDef> {
    c.need("CHECK")?;
    c.need_token(&Token::LParen)?;
    let WrittenExpr { expr, text } = c.written_expr()?.without_parentheses();
    c.need_token(&Token::RParen)?;
    let not_valid = c.eat_all(&["NOT", "VALID"]);
    for clause in ["NO INHERIT", "NOT ENFORCED", "ENFORCED"] {
        let words: Vec<&str> = clause.split(' ').collect();
        if c.at_all(&words) {
            return Err(c.unsupported(format!("CHECK … {clause}")));
        }
    }
    for clause in ["NOT DEFERRABLE", "DEFERRABLE", "INITIALLY"] {
        let words: Vec<&str> = clause.split(' ').collect();
        if c.at_all(&words) {
            return Err(c.invalid(&format!("misplaced {clause} clause")));
        }
    }
    Ok(CheckDef { name, expr, text, not_valid })
}
