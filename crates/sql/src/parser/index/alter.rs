//! ALTER INDEX, in PostgreSQL's syntax and in Phoenix's, and DROP INDEX.

use crate::Statement;
use crate::parser::{Cursor, Parse, drop};
use crate::phoenix::options;
use crate::statement::{IndexChange, ObjectName, OptionValue, TableOption};
use sqlparser::tokenizer::Token;

/// DROP INDEX.
pub(in crate::parser) fn drop_index(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need_all(&["DROP", "INDEX"])?;
    let concurrently = c.eat("CONCURRENTLY");
    let if_exists = c.if_exists();
    let names = c.list(Cursor::object_name)?;
    let table = match names.as_slice() {
        [ObjectName { schema: None, .. }] if c.eat("ON") => Some(c.object_name()?),
        _ => None,
    };
    let cascade = drop::cascade(c);
    Ok(Statement::DropIndex { names, table, if_exists, cascade, concurrently })
}

/// Parses ALTER INDEX … RENAME TO, and Phoenix's ALTER INDEX … ON ….
pub(in crate::parser) fn alter_index(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need_all(&["ALTER", "INDEX"])?;
    let if_exists = c.if_exists();
    let name = c.object_name()?;
    if name.schema.is_none() && c.eat("ON") {
        let table = c.object_name()?;
        return Ok(Statement::AlterIndex { name: name.name, table, if_exists, change: change(c)? });
    }
    if let Some((options, tablespace)) = parameters(c)? {
        return Ok(Statement::SetIndexOptions { name, if_exists, options, tablespace });
    }
    let others = ["SET", "ATTACH", "ALTER", "DEPENDS", "NO", "ON", "OWNER"];
    if let Some(word) = others.iter().find(|word| c.at(word)) {
        return Err(c.unsupported(format!("ALTER INDEX … {word}")));
    }
    c.need_all(&["RENAME", "TO"])?;
    Ok(Statement::RenameIndex { name, if_exists, to: c.name()? })
}

/// Parses `SET (…)`, `RESET (…)` and `SET TABLESPACE`.
fn parameters(c: &mut Cursor<'_>) -> Parse<Option<(Vec<TableOption>, Option<String>)>> {
    if c.at("SET") && matches!(c.peek_nth(1), Token::LParen) {
        c.next();
        return Ok(Some((options::with(c)?, None)));
    }
    if c.eat_all(&["SET", "TABLESPACE"]) {
        return Ok(Some((Vec::new(), Some(c.name()?))));
    }
    if !c.eat("RESET") {
        return Ok(None);
    }
    let reset = |name: String| TableOption { family: None, name: name.to_ascii_lowercase(), value: OptionValue::Null };
    Ok(Some((c.parenthesised(Cursor::any_word)?.into_iter().map(reset).collect(), None)))
}

/// `{USABLE | UNUSABLE | DISABLE | ACTIVE | REBUILD [ALL]} [ASYNC] [[SET] properties]`.
fn change(c: &mut Cursor<'_>) -> Parse<IndexChange> {
    let change = if c.eat("USABLE") || c.eat("ACTIVE") {
        IndexChange::Usable
    } else if c.eat("UNUSABLE") {
        IndexChange::Unusable
    } else if c.eat("DISABLE") {
        IndexChange::Disable
    } else if c.eat("REBUILD") {
        c.eat("ALL");
        if c.eat("ASYNC") { IndexChange::RebuildAsync } else { IndexChange::Rebuild }
    } else if c.at("CONSISTENCY") {
        return consistency(c);
    } else if c.at("SET") || options::at_bare(c) {
        return Err(c.unsupported("ALTER INDEX … with properties"));
    } else {
        return Err(c.expected("USABLE, UNUSABLE, DISABLE, ACTIVE or REBUILD"));
    };
    if c.at("ASYNC") {
        return Err(c.invalid("ASYNC stands behind REBUILD only"));
    }
    if c.at("SET") || options::at_bare(c) {
        return Err(c.unsupported("ALTER INDEX … with properties"));
    }
    Ok(change)
}

/// `CONSISTENCY = {STRONG | EVENTUAL}`.
fn consistency(c: &mut Cursor<'_>) -> Parse<IndexChange> {
    c.need("CONSISTENCY")?;
    c.need_token(&Token::Eq)?;
    if c.at("EVENTUAL") {
        return Err(c.unsupported("ALTER INDEX … CONSISTENCY = EVENTUAL"));
    }
    c.need("STRONG")?;
    Ok(IndexChange::Strong)
}
