//! CREATE VIEW and DROP VIEW.

use super::{Cursor, Parse, drop};
use crate::Statement;
use crate::statement::CreateView;
use sqlparser::tokenizer::Token;

/// Does CREATE VIEW come next?
pub(super) fn at_create(c: &Cursor<'_>) -> bool {
    c.at_all(&["CREATE", "VIEW"]) || c.at_all(&["CREATE", "OR", "REPLACE", "VIEW"])
}

/// Parses `CREATE [OR REPLACE] VIEW v [(a, b)] AS query`.
pub(super) fn create_view(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need("CREATE")?;
    let or_replace = c.eat_all(&["OR", "REPLACE"]);
    c.need("VIEW")?;
    let if_not_exists = c.if_not_exists();
    let name = c.object_name()?;
    let columns = if matches!(c.peek(), Token::LParen) { c.parenthesised(column)? } else { Vec::new() };
    if c.at("WITH") {
        return Err(c.unsupported("CREATE VIEW … WITH"));
    }
    c.need("AS")?;
    let query = c.query()?;
    if c.at("WITH") {
        return Err(c.unsupported("CREATE VIEW … WITH CHECK OPTION"));
    }
    let view = CreateView { or_replace, if_not_exists, name, columns, query };
    Ok(Statement::CreateView(Box::new(view)))
}

fn column(c: &mut Cursor<'_>) -> Parse<String> {
    let name = c.name()?;
    match c.peek() {
        Token::Comma | Token::RParen => Ok(name),
        _ => Err(c.unsupported("a view with columns of its own")),
    }
}

/// DROP VIEW.
pub(super) fn drop_view(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need_all(&["DROP", "VIEW"])?;
    let if_exists = c.if_exists();
    let names = c.list(Cursor::object_name)?;
    let cascade = drop::cascade(c);
    Ok(Statement::DropView { names, if_exists, cascade })
}
