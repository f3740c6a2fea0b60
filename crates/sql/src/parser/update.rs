//! UPDATE, and the assignments of all statements.

use super::insert::{returning, value};
use super::{Cursor, Parse};
use crate::Statement;
use crate::ast::{Expr, Value, With};
use crate::statement::{Assignment, InsertValue, ObjectName, Update};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;

/// Parses UPDATE t SET ….
pub(super) fn update(c: &mut Cursor<'_>, with: Option<With>) -> Parse<Statement> {
    c.need("UPDATE")?;
    if c.at("STATISTICS") && !c.at_nth(1, "SET") {
        return super::maintenance::update_statistics(c);
    }
    let (table, alias) = target(c, "SET")?;
    c.need("SET")?;
    let assignments = c.list(assignment)?;
    let from = if c.eat("FROM") { c.list(|c| c.with_parser(Parser::parse_table_and_joins))? } else { Vec::new() };
    let (selection, current_of) = selection(c)?;
    if c.at("ORDER") || c.at("LIMIT") {
        return Err(c.unsupported_hint("ORDER BY and LIMIT of UPDATE", "Choose the rows in WHERE with a subquery."));
    }
    let returning = returning(c)?;
    Ok(Statement::Update(Box::new(Update { with, table, alias, assignments, from, selection, current_of, returning })))
}

/// Parses `[ONLY] t [*] [[AS] a]`; `after` is the keyword that cannot be an alias here.
pub(super) fn target(c: &mut Cursor<'_>, after: &str) -> Parse<(ObjectName, Option<String>)> {
    c.eat("ONLY"); // There is no inheritance.
    let table = c.object_name()?;
    c.eat_token(&Token::Mul);
    let named = c.eat("AS") || (matches!(c.peek(), Token::Word(_)) && !c.at(after) && !ends_target(c));
    let alias = if named { Some(c.name()?) } else { None };
    Ok((table, alias))
}

fn ends_target(c: &Cursor<'_>) -> bool {
    ["SET", "USING", "WHERE", "ORDER", "LIMIT", "RETURNING"].iter().any(|word| c.at(word))
}

/// Parses WHERE, if it comes next; also returns the cursor of CURRENT OF.
pub(super) fn selection(c: &mut Cursor<'_>) -> Parse<(Option<Expr>, Option<String>)> {
    if !c.eat("WHERE") {
        return Ok((None, None));
    }
    if c.eat_all(&["CURRENT", "OF"]) {
        return Ok((Some(Expr::value(Value::Boolean(false))), Some(c.name()?)));
    }
    Ok((Some(c.expr()?), None))
}

/// Parses `a = x`, `a[1] = x`, `(a, b) = (x, y)`, `(a, b) = ROW (x, y)`, `(a, b) = (SELECT …)`.
pub(crate) fn assignment(c: &mut Cursor<'_>) -> Parse<Assignment> {
    if !matches!(c.peek(), Token::LParen) {
        let column = c.column_name()?;
        let mut places = Vec::new();
        while c.eat_token(&Token::LBracket) {
            let slice = c.unsupported("assignment to a slice of an array");
            if matches!(c.peek(), Token::Colon) {
                return Err(slice);
            }
            places.push(c.expr()?);
            if matches!(c.peek(), Token::Colon) {
                return Err(slice);
            }
            c.need_token(&Token::RBracket)?;
        }
        c.need_token(&Token::Eq)?;
        if !places.is_empty() {
            return Ok(Assignment::Element { column, places, value: value(c)? });
        }
        return Ok(Assignment::One { column, value: value(c)? });
    }
    let columns = c.parenthesised(Cursor::column_name)?;
    c.need_token(&Token::Eq)?;
    let open = c.location();
    if !c.eat("ROW") && ["SELECT", "VALUES", "WITH", "TABLE"].iter().any(|word| c.at_nth(1, word)) {
        c.need_token(&Token::LParen)?;
        let query = c.query()?;
        c.need_token(&Token::RParen)?;
        return Ok(Assignment::Subquery { columns, query });
    }
    if !matches!(c.peek(), Token::LParen) {
        return Err(c.invalid("source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression"));
    }
    let values: Vec<InsertValue> = c.parenthesised(value)?;
    if values.len() != columns.len() {
        return Err(c.invalid_at(open, "number of columns does not match number of values"));
    }
    Ok(Assignment::Row { columns, values })
}
