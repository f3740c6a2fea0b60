//! BEGIN, COMMIT, ROLLBACK, and the modes that BEGIN and SET TRANSACTION share.

use super::fault::FaultKind;
use super::{Cursor, Parse};
use crate::Statement;
use crate::statement::{Isolation, TransactionModes};
use sqlparser::tokenizer::Token;

/// Parses a statement that begins or ends a transaction block.
pub(super) fn transaction(c: &mut Cursor<'_>) -> Parse<Statement> {
    if c.eat("BEGIN") {
        eat_noise(c);
        return Ok(Statement::Begin(modes(c)?));
    }
    if c.eat("START") {
        c.need("TRANSACTION")?;
        return Ok(Statement::Begin(modes(c)?));
    }
    if c.at_all(&["COMMIT", "PREPARED"]) || c.at_all(&["ROLLBACK", "PREPARED"]) {
        return Err(c.unsupported("two-phase commit"));
    }
    let commit = c.eat("COMMIT") || c.eat("END");
    if !commit {
        c.next();
    }
    eat_noise(c);
    if !commit && c.eat("TO") {
        c.eat("SAVEPOINT");
        return Ok(Statement::RollbackTo(c.name()?));
    }
    let chain = c.eat_all(&["AND", "CHAIN"]);
    if !chain {
        c.eat_all(&["AND", "NO", "CHAIN"]);
    }
    Ok(if commit { Statement::Commit { chain } } else { Statement::Rollback { chain } })
}

/// Parses SAVEPOINT and RELEASE.
pub(super) fn savepoint(c: &mut Cursor<'_>) -> Parse<Statement> {
    if c.eat("RELEASE") {
        c.eat("SAVEPOINT");
        return Ok(Statement::Release(c.name()?));
    }
    c.need("SAVEPOINT")?;
    Ok(Statement::Savepoint(c.name()?))
}

fn eat_noise(c: &mut Cursor<'_>) {
    if !c.eat("TRANSACTION") {
        c.eat("WORK");
    }
}

/// Parses transaction modes, with or without commas between them; there may be none.
pub(super) fn modes(c: &mut Cursor<'_>) -> Parse<TransactionModes> {
    let mut modes = TransactionModes::default();
    let mut any = false;
    while !c.at_end() {
        if any {
            c.eat_token(&Token::Comma);
        }
        mode(c, &mut modes)?;
        any = true;
    }
    Ok(modes)
}

fn mode(c: &mut Cursor<'_>, modes: &mut TransactionModes) -> Parse<()> {
    let fresh = if c.eat_all(&["ISOLATION", "LEVEL"]) {
        let level = isolation(c)?;
        modes.isolation.replace(level).is_none_or(|before| before == level)
    } else if c.eat_all(&["READ", "ONLY"]) {
        modes.read_only.replace(true) != Some(false)
    } else if c.eat_all(&["READ", "WRITE"]) {
        modes.read_only.replace(false) != Some(true)
    } else if c.eat("DEFERRABLE") {
        modes.deferrable.replace(true) != Some(false)
    } else if c.eat_all(&["NOT", "DEFERRABLE"]) {
        modes.deferrable.replace(false) != Some(true)
    } else {
        return Err(c.expected("a transaction mode"));
    };
    if fresh { Ok(()) } else { Err(c.fault(FaultKind::Invalid("conflicting or redundant options".into()))) }
}

fn isolation(c: &mut Cursor<'_>) -> Parse<Isolation> {
    if c.eat_all(&["READ", "UNCOMMITTED"]) {
        Ok(Isolation::ReadUncommitted)
    } else if c.eat_all(&["READ", "COMMITTED"]) {
        Ok(Isolation::ReadCommitted)
    } else if c.eat_all(&["REPEATABLE", "READ"]) {
        Ok(Isolation::RepeatableRead)
    } else if c.eat("SERIALIZABLE") {
        Ok(Isolation::Serializable)
    } else {
        Err(c.expected("an isolation level"))
    }
}
