//! LOCK TABLE.

use super::{Cursor, Parse};
use crate::Statement;
use crate::statement::{LockTables, ObjectName, TableLockMode};
use sqlparser::tokenizer::Token;

/// Parses LOCK [TABLE] [ONLY] t [*], … [IN mode MODE] [NOWAIT].
pub(super) fn lock(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need("LOCK")?;
    c.eat("TABLE");
    let names = c.list(table)?;
    let mode = if c.eat("IN") { mode(c)? } else { TableLockMode::AccessExclusive };
    let no_wait = c.eat("NOWAIT");
    Ok(Statement::Lock(LockTables { names, mode, no_wait }))
}

/// Parses a table. ONLY and `*` have no effect, since tables have no child tables.
fn table(c: &mut Cursor<'_>) -> Parse<ObjectName> {
    let only = c.eat("ONLY");
    let name = c.object_name()?;
    if !only {
        c.eat_token(&Token::Mul);
    }
    Ok(name)
}

fn mode(c: &mut Cursor<'_>) -> Parse<TableLockMode> {
    for (mode, words) in TableLockMode::ALL {
        if c.eat_all(words) {
            c.need("MODE")?;
            return Ok(mode);
        }
    }
    Err(c.expected("a lock mode"))
}
