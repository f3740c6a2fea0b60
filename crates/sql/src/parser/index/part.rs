//! The parts of an index: columns and expressions, each with its collation, operator class and order.

use crate::parser::collation::collation;
use crate::parser::column::nulls_order;
use crate::parser::{Cursor, Parse};
use crate::statement::{ColumnName, IndexPartDef, IndexPartOf, ObjectName, WrittenExpr};
use sqlparser::ast::Expr;
use sqlparser::tokenizer::Token;

/// Parses `{column | expression} [COLLATE c] [opclass] [ASC | DESC] [NULLS FIRST | LAST]`.
pub(super) fn part(c: &mut Cursor<'_>, families: &mut Vec<ColumnName>) -> Parse<IndexPartDef> {
    let of = if at_family(c) { IndexPartOf::Column(of_family(c, families)?) } else { part_of(c)? };
    if c.at("COLLATE") {
        collation(c)?;
    }
    let class = operator_class(c)?;
    let descending = c.eat("DESC");
    if !descending {
        c.eat("ASC");
    }
    Ok(IndexPartDef { of, class, descending, nulls_first: nulls_order(c) })
}

/// Does a column with its family come next (`a.v`), as in Phoenix? A function in a schema has parentheses after it.
pub(super) fn at_family(c: &Cursor<'_>) -> bool {
    matches!(c.peek(), Token::Word(_))
        && matches!(c.peek_nth(1), Token::Period)
        && matches!(c.peek_nth(3), Token::Comma | Token::RParen | Token::Word(_))
}

/// Returns the column's name; the column with its family is kept in `families`, to be checked when the table is known.
pub(super) fn of_family(c: &mut Cursor<'_>, families: &mut Vec<ColumnName>) -> Parse<String> {
    let column = c.column_name()?;
    families.push(column.clone());
    Ok(column.name)
}

/// Parses a column, which may be in parentheses, or an expression. Phoenix needs no parentheses around expressions.
pub(in crate::parser) fn part_of(c: &mut Cursor<'_>) -> Parse<IndexPartOf> {
    let is_name = matches!(c.peek(), Token::Word(_));
    if is_name && matches!(c.peek_nth(1), Token::Period) {
        return Err(c.unsupported("a column family in an index"));
    }
    if is_name && matches!(c.peek_nth(1), Token::Comma | Token::RParen | Token::Word(_)) && !c.at("CASE") {
        return Ok(IndexPartOf::Column(c.name()?));
    }
    let WrittenExpr { expr, text } = c.written_expr()?;
    Ok(match expr {
        Expr::Nested(inner) if matches!(inner.as_ref(), Expr::Identifier(_)) => column_or(*inner, text),
        expr @ Expr::Nested(_) => IndexPartOf::Expression(Box::new(WrittenExpr { expr, text }.without_parentheses())),
        expr => IndexPartOf::Expression(Box::new(WrittenExpr { expr, text })),
    })
}

fn column_or(expr: Expr, text: String) -> IndexPartOf {
    match expr {
        Expr::Identifier(name) if name.quote_style.is_some() => IndexPartOf::Column(name.value),
        Expr::Identifier(name) => IndexPartOf::Column(name.value.to_ascii_lowercase()),
        expr => IndexPartOf::Expression(Box::new(WrittenExpr { expr, text })),
    }
}

/// Parses an operator class. Whether it exists for the type is checked when the index is created.
fn operator_class(c: &mut Cursor<'_>) -> Parse<Option<String>> {
    let follows = ["ASC", "DESC", "NULLS"].iter().any(|word| c.at(word));
    if follows || !matches!(c.peek(), Token::Word(_)) {
        return Ok(None);
    }
    let place = c.location();
    let ObjectName { schema, name, .. } = c.object_name()?;
    if schema.is_some_and(|schema| schema != "pg_catalog") || matches!(c.peek(), Token::LParen) {
        return Err(c.unsupported_at(place, format!("operator class \"{name}\" of an index")));
    }
    Ok(Some(name))
}
