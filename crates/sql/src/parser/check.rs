//! `CHECK (…)` of a column or a table.

use super::{Cursor, Parse};
use crate::statement::{CheckDef, WrittenExpr};
use sqlparser::ast::Expr;
use sqlparser::tokenizer::Token;

/// `CHECK (condition)`, behind its name if it has one.
pub(super) fn check_def(c: &mut Cursor<'_>, name: Option<String>) -> Parse<CheckDef> {
    c.need("CHECK")?;
    c.need_token(&Token::LParen)?;
    let WrittenExpr { expr, text } = without_parentheses(c.written_expr()?);
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

/// The condition without parentheses around the whole: a definition that is shown has two pairs, and is read again.
fn without_parentheses(WrittenExpr { expr, text }: WrittenExpr) -> WrittenExpr {
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).map(|text| text.trim().to_owned());
    match (expr, inner) {
        (Expr::Nested(expr), Some(text)) => without_parentheses(WrittenExpr { expr: *expr, text }),
        (expr, _) => WrittenExpr { expr, text },
    }
}
