//! CREATE, ALTER, DROP and REFRESH MATERIALIZED VIEW.

use super::alter::altered;
use super::{Cursor, Parse, drop};
use crate::Statement;
use crate::phoenix::options;
use crate::statement::{CreateMaterializedView, OwnedObject, RefreshMaterializedView, StorageHint};
use sqlparser::tokenizer::Token;

/// Does CREATE MATERIALIZED VIEW come next?
pub(super) fn at_create(c: &Cursor<'_>) -> bool {
    c.at_all(&["CREATE", "MATERIALIZED", "VIEW"]) || c.at_all(&["CREATE", "UNLOGGED", "MATERIALIZED"])
}

/// `CREATE MATERIALIZED VIEW [IF NOT EXISTS] v [(a, b)] [WITH (…)] [TABLESPACE s] AS query [WITH [NO] DATA]`.
pub(super) fn create(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need("CREATE")?;
    if c.at("UNLOGGED") {
        return Err(c.unsupported("an unlogged materialized view"));
    }
    c.need_all(&["MATERIALIZED", "VIEW"])?;
    let if_not_exists = c.if_not_exists();
    let name = c.object_name()?;
    let columns = if matches!(c.peek(), Token::LParen) { c.parenthesised(Cursor::name)? } else { Vec::new() };
    if c.at("USING") {
        return Err(c.unsupported("CREATE MATERIALIZED VIEW … USING"));
    }
    let place = c.location();
    let options = if c.eat("WITH") { options::with(c)? } else { Vec::new() };
    if let Some(name) = options::repeated(&options) {
        return Err(c.invalid_at(place, &format!("parameter \"{name}\" specified more than once")));
    }
    let tablespace = if c.eat("TABLESPACE") { Some(StorageHint::Tablespace(c.name()?)) } else { None };
    c.need("AS")?;
    if c.at("EXECUTE") {
        return Err(c.syntax());
    }
    let query = c.query()?;
    let with_data = with_data(c);
    let hints = tablespace.into_iter().collect();
    let view = CreateMaterializedView { if_not_exists, name, columns, options, hints, query, with_data };
    Ok(Statement::CreateMaterializedView(Box::new(view)))
}

/// `REFRESH MATERIALIZED VIEW [CONCURRENTLY] v [WITH [NO] DATA]`.
pub(super) fn refresh(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need_all(&["REFRESH", "MATERIALIZED", "VIEW"])?;
    let concurrently = c.eat("CONCURRENTLY");
    let name = c.object_name()?;
    let place = c.location();
    let with_data = with_data(c);
    if concurrently && !with_data {
        return Err(c.invalid_at(place, "CONCURRENTLY and WITH NO DATA options cannot be used together"));
    }
    Ok(Statement::RefreshMaterializedView(RefreshMaterializedView { name, concurrently, with_data }))
}

/// `DROP MATERIALIZED VIEW`.
pub(super) fn drop_views(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need_all(&["DROP", "MATERIALIZED", "VIEW"])?;
    let if_exists = c.if_exists();
    let names = c.list(Cursor::object_name)?;
    let cascade = drop::cascade(c);
    Ok(Statement::DropMaterializedView { names, if_exists, cascade })
}

/// Parses `ALTER MATERIALIZED VIEW` with the grammar of ALTER TABLE. Resolving the name refuses actions that only
/// tables have.
pub(super) fn alter(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need_all(&["ALTER", "MATERIALIZED", "VIEW"])?;
    let if_exists = c.if_exists();
    let name = c.object_name()?;
    altered(c, name, if_exists, true, OwnedObject::MaterializedView)
}

/// Parses WITH [NO] DATA. WITH DATA is the default.
fn with_data(c: &mut Cursor<'_>) -> bool {
    if c.eat_all(&["WITH", "NO", "DATA"]) {
        return false;
    }
    c.eat_all(&["WITH", "DATA"]);
    true
}
