//! INSERT and UPSERT.

use super::{Cursor, Parse, index, update};
use crate::Statement;
use crate::ast::{SelectItem, With};
use crate::phoenix::on_duplicate::on_duplicate;
use crate::statement::{
    ColumnName, Conflict, ConflictAction, ConflictTarget, IndexPartOf, Insert, InsertSource, InsertValue, Overriding,
};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Location, Token};

/// Parses INSERT INTO ….
pub(super) fn insert(c: &mut Cursor<'_>, with: Option<With>) -> Parse<Statement> {
    c.need_all(&["INSERT", "INTO"])?;
    let mut insert = head(c, false)?;
    insert.with = with;
    let place = c.location();
    if c.eat_all(&["ON", "CONFLICT"]) {
        insert.on_conflict = Some(on_conflict(c, place)?);
    } else if c.eat_all(&["ON", "DUPLICATE", "KEY"]) {
        insert.on_duplicate = Some(on_duplicate(c)?);
    }
    insert.returning = returning(c)?;
    Ok(Statement::Insert(Box::new(insert)))
}

/// Parses UPSERT INTO …: Phoenix's INSERT that overwrites existing rows.
pub(super) fn upsert(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need_all(&["UPSERT", "INTO"])?;
    let mut insert = head(c, true)?;
    if c.at_all(&["ON", "CONFLICT"]) {
        return Err(c.unsupported_hint("ON CONFLICT of UPSERT", "Use INSERT with ON CONFLICT."));
    }
    if c.eat_all(&["ON", "DUPLICATE", "KEY"]) {
        insert.on_duplicate = Some(on_duplicate(c)?);
    }
    insert.returning = returning(c)?;
    Ok(Statement::Insert(Box::new(insert)))
}

fn head(c: &mut Cursor<'_>, upsert: bool) -> Parse<Insert> {
    let table = c.object_name()?;
    let alias = if c.eat("AS") { Some(c.name()?) } else { None };
    let columns = if matches!(c.peek(), Token::LParen) && !begins_query(c) {
        Some(c.parenthesised(target_column)?)
    } else {
        None
    };
    let overriding = overriding(c);
    let source = source(c)?;
    let (with, on_conflict, on_duplicate, returning) = (None, None, None, Vec::new());
    Ok(Insert { with, table, alias, columns, overriding, source, upsert, on_conflict, on_duplicate, returning })
}

fn overriding(c: &mut Cursor<'_>) -> Option<Overriding> {
    if c.eat_all(&["OVERRIDING", "SYSTEM", "VALUE"]) {
        return Some(Overriding::System);
    }
    c.eat_all(&["OVERRIDING", "USER", "VALUE"]).then_some(Overriding::User)
}

fn begins_query(c: &Cursor<'_>) -> bool {
    let opens = (0..).take_while(|n| matches!(c.peek_nth(*n), Token::LParen)).count();
    ["SELECT", "VALUES", "WITH", "TABLE"].iter().any(|word| c.at_nth(opens, word))
}

fn target_column(c: &mut Cursor<'_>) -> Parse<ColumnName> {
    let column = c.column_name()?;
    if matches!(c.peek(), Token::Word(_)) {
        return Err(c.unsupported("a dynamic column (a column with its type in a statement)"));
    }
    Ok(column)
}

fn source(c: &mut Cursor<'_>) -> Parse<InsertSource> {
    if c.eat_all(&["DEFAULT", "VALUES"]) {
        return Ok(InsertSource::DefaultValues);
    }
    if c.at("VALUES")
        && let Some(rows) = c.attempt(values)?
    {
        return Ok(InsertSource::Values(rows));
    }
    Ok(InsertSource::Query(c.query()?))
}

/// Parses the rows of VALUES; `None` if they are only the beginning of a longer query.
fn values(c: &mut Cursor<'_>) -> Parse<Option<Vec<Vec<InsertValue>>>> {
    c.need("VALUES")?;
    let mut width = None;
    let rows = c.list(|c| {
        let open = c.location();
        let row = c.parenthesised(value)?;
        if *width.get_or_insert(row.len()) != row.len() {
            return Err(c.invalid_at(open, "VALUES lists must all be the same length"));
        }
        Ok(row)
    })?;
    Ok((c.at_end() || c.at("ON") || c.at("RETURNING")).then_some(rows))
}

/// Parses an expression or DEFAULT.
pub(super) fn value(c: &mut Cursor<'_>) -> Parse<InsertValue> {
    if c.eat("DEFAULT") { Ok(InsertValue::Default) } else { Ok(InsertValue::Expr(c.expr()?)) }
}

/// Parses RETURNING, if it comes next.
pub(super) fn returning(c: &mut Cursor<'_>) -> Parse<Vec<SelectItem>> {
    if c.eat("RETURNING") { c.list(|c| c.with_parser(Parser::parse_select_item)) } else { Ok(Vec::new()) }
}

/// Parses the rest of ON CONFLICT, which begins at `place`.
fn on_conflict(c: &mut Cursor<'_>, place: Option<Location>) -> Parse<Conflict> {
    let target = conflict_target(c)?;
    c.need("DO")?;
    if c.eat("NOTHING") {
        return Ok(Conflict { target, action: ConflictAction::DoNothing });
    }
    if target.is_none() {
        let message = "ON CONFLICT DO UPDATE requires inference specification or constraint name";
        return Err(c.invalid_hint_at(place, message, "For example, ON CONFLICT (column_name)."));
    }
    c.need_all(&["UPDATE", "SET"])?;
    let assignments = c.list(update::assignment)?;
    let selection = if c.eat("WHERE") { Some(c.expr()?) } else { None };
    Ok(Conflict { target, action: ConflictAction::DoUpdate { assignments, selection } })
}

/// Parses a column or an expression of the arbiter index.
fn inferred(c: &mut Cursor<'_>) -> Parse<IndexPartOf> {
    let part = index::part_of(c)?;
    match c.peek() {
        Token::Comma | Token::RParen => Ok(part),
        _ => Err(c.unsupported("ON CONFLICT with collations or operator classes")),
    }
}

fn conflict_target(c: &mut Cursor<'_>) -> Parse<Option<ConflictTarget>> {
    if c.eat_all(&["ON", "CONSTRAINT"]) {
        return Ok(Some(ConflictTarget::Constraint(c.name()?)));
    }
    if !matches!(c.peek(), Token::LParen) {
        return Ok(None);
    }
    let (mut names, mut exprs) = (Vec::new(), Vec::new());
    for part in c.parenthesised(inferred)? {
        match part {
            IndexPartOf::Column(name) => names.push(name),
            IndexPartOf::Expression(expression) => exprs.push(expression.expr),
        }
    }
    let predicate = if c.eat("WHERE") { Some(c.expr()?) } else { None };
    Ok(Some(ConflictTarget::Columns { names, exprs, predicate }))
}
