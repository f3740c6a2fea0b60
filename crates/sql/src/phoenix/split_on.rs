//! `SPLIT ON ('a', 'b')`: region boundaries. A boundary of several key columns is `('a', 1)`.

use crate::parser::{Cursor, Parse};
use sqlparser::ast::Expr;

/// Parses the region boundaries, if SPLIT ON comes next.
pub(crate) fn split_on(c: &mut Cursor<'_>) -> Parse<Vec<Vec<Expr>>> {
    if !c.eat_all(&["SPLIT", "ON"]) {
        return Ok(Vec::new());
    }
    c.parenthesised(|c| {
        Ok(match c.expr()? {
            Expr::Tuple(parts) => parts,
            Expr::Nested(part) => vec![*part],
            part => vec![part],
        })
    })
}
