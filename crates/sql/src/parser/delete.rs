//! DELETE.

use super::insert::returning;
use super::update::{selection, target};
use super::{Cursor, Parse};
use crate::Statement;
use crate::ast::With;
use crate::statement::Delete;
use sqlparser::parser::Parser;

/// Parses DELETE FROM t ….
pub(super) fn delete(c: &mut Cursor<'_>, with: Option<With>) -> Parse<Statement> {
    c.need_all(&["DELETE", "FROM"])?;
    let (table, alias) = target(c, "USING")?;
    let using = if c.eat("USING") { c.list(|c| c.with_parser(Parser::parse_table_and_joins))? } else { Vec::new() };
    let (selection, current_of) = selection(c)?;
    let order_by =
        if c.eat_all(&["ORDER", "BY"]) { c.list(|c| c.with_parser(Parser::parse_order_by_expr))? } else { Vec::new() };
    let limit = if c.eat("LIMIT") && !c.eat("ALL") { Some(c.expr()?) } else { None };
    if !order_by.is_empty() && limit.is_none() {
        return Err(c.invalid("ORDER BY of DELETE needs LIMIT"));
    }
    if c.at("OFFSET") {
        return Err(c.unsupported("OFFSET of DELETE"));
    }
    let returning = returning(c)?;
    let delete = Delete { with, table, alias, using, selection, current_of, order_by, limit, returning };
    Ok(Statement::Delete(Box::new(delete)))
}
