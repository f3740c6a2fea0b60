//! DROP and TRUNCATE.

use super::{Cursor, Parse, absent, index, materialized, sequence, unsupported, view};
use crate::Statement;

/// DROP TABLE, DROP SCHEMA.
pub(super) fn drop(c: &mut Cursor<'_>) -> Parse<Statement> {
    if c.at_nth(1, "VIEW") {
        return view::drop_view(c);
    }
    if c.at_all(&["DROP", "MATERIALIZED", "VIEW"]) {
        return materialized::drop_views(c);
    }
    if c.at_nth(1, "SEQUENCE") {
        return sequence::drop_sequence(c);
    }
    if c.at_nth(1, "INDEX") {
        return index::drop_index(c);
    }
    let is_table = c.at_nth(1, "TABLE");
    if !is_table && !c.at_nth(1, "SCHEMA") {
        return absent::drop_absent(c)?.ok_or_else(|| unsupported::statement(c));
    }
    c.next();
    c.next();
    let if_exists = c.if_exists();
    if is_table {
        let names = c.list(Cursor::object_name)?;
        let cascade = cascade(c);
        return Ok(Statement::DropTable { names, if_exists, cascade });
    }
    let names = c.list(Cursor::name)?;
    let cascade = cascade(c);
    Ok(Statement::DropSchema { names, if_exists, cascade })
}

/// TRUNCATE.
pub(super) fn truncate(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need("TRUNCATE")?;
    c.eat("TABLE");
    let names = c.list(|c| {
        c.eat("ONLY");
        let name = c.object_name()?;
        c.eat_token(&sqlparser::tokenizer::Token::Mul);
        Ok(name)
    })?;
    if c.at_all(&["DROP", "SPLITS"]) {
        return Err(c.unsupported("TRUNCATE … DROP SPLITS"));
    }
    c.eat_all(&["PRESERVE", "SPLITS"]); // Splits are always preserved.
    let restart_identity = c.eat_all(&["RESTART", "IDENTITY"]);
    if !restart_identity {
        c.eat_all(&["CONTINUE", "IDENTITY"]);
    }
    let cascade = cascade(c);
    Ok(Statement::Truncate { names, restart_identity, cascade })
}

/// Parses CASCADE or RESTRICT, which is the default.
pub(super) fn cascade(c: &mut Cursor<'_>) -> bool {
    let cascade = c.eat("CASCADE");
    if !cascade {
        c.eat("RESTRICT");
    }
    cascade
}
