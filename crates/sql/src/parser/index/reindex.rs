//! REINDEX and CHECK INDEX.

use crate::Statement;
use crate::parser::explain::boolean;
use crate::parser::{Cursor, Parse};
use crate::statement::{CheckIndexes, Reindex, ReindexOf};
use sqlparser::tokenizer::Token;

/// Parses REINDEX [(option, …)] {INDEX | TABLE | SCHEMA | DATABASE} [CONCURRENTLY] name.
pub(in crate::parser) fn reindex(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need("REINDEX")?;
    let (mut concurrently, mut verbose, mut tablespace) = (false, false, None);
    if matches!(c.peek(), Token::LParen) {
        c.parenthesised(|c| {
            let place = c.location();
            match c.any_word()?.to_ascii_lowercase().as_str() {
                "concurrently" => concurrently = boolean(c)?,
                "verbose" => verbose = boolean(c)?,
                "tablespace" => tablespace = Some(c.name()?),
                other => return Err(c.invalid_at(place, &format!("unrecognized REINDEX option \"{other}\""))),
            }
            Ok(())
        })?;
    }
    if c.at("SYSTEM") {
        return Err(c.unsupported("REINDEX SYSTEM"));
    }
    let of = if c.eat("TABLE") {
        ReindexOf::Table
    } else if c.eat("SCHEMA") {
        ReindexOf::Schema
    } else if c.eat("DATABASE") {
        ReindexOf::Database
    } else {
        c.need("INDEX")?;
        ReindexOf::Index
    };
    concurrently |= c.eat("CONCURRENTLY");
    Ok(Statement::Reindex(Reindex { of, name: c.object_name()?, concurrently, verbose, tablespace }))
}

/// Parses CHECK {INDEX | TABLE} name [REPAIR].
pub(in crate::parser) fn check(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need("CHECK")?;
    let of_table = c.eat("TABLE");
    if !of_table {
        c.need("INDEX")?;
    }
    Ok(Statement::CheckIndexes(CheckIndexes { of_table, name: c.object_name()?, repair: c.eat("REPAIR") }))
}
