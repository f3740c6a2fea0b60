//! COMMENT ON.

use super::fault::FaultKind;
use super::{Cursor, Parse};
use crate::Statement;
use crate::statement::{Comment, Commented, ObjectName, RelationKind};
use sqlparser::tokenizer::Token;

/// `COMMENT ON object IS {'text' | NULL}`.
pub(super) fn comment(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need_all(&["COMMENT", "ON"])?;
    let on = object(c)?;
    c.need("IS")?;
    let text = if c.eat("NULL") { None } else { Some(c.string()?) };
    Ok(Statement::Comment(Box::new(Comment { on, text })))
}

fn object(c: &mut Cursor<'_>) -> Parse<Commented> {
    let kinds = [
        ("TABLE", RelationKind::Table),
        ("VIEW", RelationKind::View),
        ("SEQUENCE", RelationKind::Sequence),
        ("INDEX", RelationKind::Index),
    ];
    if let Some((_, kind)) = kinds.into_iter().find(|(word, _)| c.eat(word)) {
        return Ok(Commented::Relation(kind, c.object_name()?));
    }
    if c.eat_all(&["MATERIALIZED", "VIEW"]) {
        return Ok(Commented::Relation(RelationKind::MaterializedView, c.object_name()?));
    }
    if c.eat("COLUMN") {
        return column(c);
    }
    if c.eat("CONSTRAINT") {
        let name = c.name()?;
        c.need("ON")?;
        if c.at("DOMAIN") {
            return Err(c.unsupported("COMMENT ON CONSTRAINT … ON DOMAIN"));
        }
        return Ok(Commented::Constraint { name, table: c.object_name()? });
    }
    if c.eat("SCHEMA") {
        return Ok(Commented::Schema(c.name()?));
    }
    if c.eat("DATABASE") {
        return Ok(Commented::Database(c.name()?));
    }
    match c.peek() {
        Token::Word(word) if word.quote_style.is_none() => {
            let kind = word.value.to_ascii_uppercase();
            Err(c.unsupported(format!("COMMENT ON {kind}")))
        }
        _ => Err(c.syntax()),
    }
}

/// `[[database.]schema.]relation.column`.
fn column(c: &mut Cursor<'_>) -> Parse<Commented> {
    let mut parts = vec![c.name()?];
    while c.eat_token(&Token::Period) {
        parts.push(c.any_word()?);
    }
    let invalid = |c: &Cursor<'_>, message: &str| c.fault(FaultKind::Invalid(message.into()));
    let (column, mut parts) = (parts.pop(), parts.into_iter().rev());
    match (column, parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(column), Some(name), schema, database, None) => {
            Ok(Commented::Column { relation: ObjectName { database, schema, ..ObjectName::bare(name) }, column })
        }
        (_, None, ..) => Err(invalid(c, "column name must be qualified")),
        _ => Err(invalid(c, "improper qualified name (too many dotted names)")),
    }
}
