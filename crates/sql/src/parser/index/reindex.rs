//! REINDEX and CHECK INDEX.

use crate::Statement;
use crate::parser::{Cursor, Parse};
use crate::statement::{CheckIndexes, Reindex};
use sqlparser::tokenizer::Token;

/// REINDEX [(CONCURRENTLY)] {INDEX | TABLE | SCHEMA | DATABASE} [CONCURRENTLY] name.
pub(in crate::parser) fn reindex(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need("REINDEX")?;
    let mut concurrently = false;
    if matches!(c.peek(), Token::LParen) {
        for option in c.parenthesised(reindex_option)? {
            concurrently = option;
        }
    }
    if c.at("SYSTEM") {
        return Err(c.unsupported("REINDEX SYSTEM"));
    }
    let kind = if c.eat("TABLE") {
        Reindex::Table
    } else if c.eat("SCHEMA") {
        Reindex::Schema
    } else if c.eat("DATABASE") {
        Reindex::Database
    } else {
        c.need("INDEX")?;
        Reindex::Index
    };
    concurrently |= c.eat("CONCURRENTLY");
    Ok(Statement::Reindex { kind, name: c.object_name()?, concurrently })
}

/// The one option of REINDEX, CONCURRENTLY: is it on?
fn reindex_option(c: &mut Cursor<'_>) -> Parse<bool> {
    if !c.eat("CONCURRENTLY") {
        return Err(c.unsupported("REINDEX with options other than CONCURRENTLY"));
    }
    if c.eat("FALSE") || c.eat("OFF") {
        return Ok(false);
    }
    let _ = c.eat("TRUE") || c.eat("ON");
    Ok(true)
}

/// CHECK {INDEX | TABLE} name [REPAIR].
pub(in crate::parser) fn check(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need("CHECK")?;
    let of_table = c.eat("TABLE");
    if !of_table {
        c.need("INDEX")?;
    }
    Ok(Statement::CheckIndexes(CheckIndexes { of_table, name: c.object_name()?, repair: c.eat("REPAIR") }))
}
