//! PREPARE, EXECUTE, DEALLOCATE, DISCARD and UNLISTEN.

use super::{Cursor, Parse, data_type, dispatch};
use crate::Statement;
use crate::statement::Discard;
use sqlparser::tokenizer::Token;

/// Parses PREPARE name (types) AS statement.
pub(super) fn prepare(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need("PREPARE")?;
    if c.at("TRANSACTION") {
        return Err(c.unsupported("two-phase commit"));
    }
    let name = c.name()?;
    // As in PostgreSQL, the type of a parameter has no modifiers.
    let parameter = |c: &mut Cursor<'_>| data_type::data_type(c).map(types::DataType::unlimited);
    let types = if matches!(c.peek(), Token::LParen) { c.parenthesised(parameter)? } else { Vec::new() };
    c.need("AS")?;
    let start = c.location();
    let preparable = ["SELECT", "VALUES", "TABLE", "WITH", "INSERT", "UPSERT", "UPDATE", "DELETE"];
    if !preparable.iter().any(|verb| c.at(verb)) && !matches!(c.peek(), Token::LParen) {
        return Err(c.syntax());
    }
    let statement = Box::new(dispatch::statement(c)?);
    Ok(Statement::Prepare { name, types, statement, text: c.text_since(start) })
}

/// Parses EXECUTE name (values).
pub(super) fn execute(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need("EXECUTE")?;
    let name = c.name()?;
    let arguments = if matches!(c.peek(), Token::LParen) { c.parenthesised(Cursor::expr)? } else { Vec::new() };
    Ok(Statement::Execute { name, arguments })
}

/// Parses DEALLOCATE [PREPARE] name | ALL.
pub(super) fn deallocate(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need("DEALLOCATE")?;
    if c.at("PREPARE") && matches!(c.peek_nth(1), Token::Word(_)) {
        c.next();
    }
    if c.eat("ALL") { Ok(Statement::Deallocate(None)) } else { Ok(Statement::Deallocate(Some(c.name()?))) }
}

/// Parses DISCARD ALL | PLANS | SEQUENCES | TEMP.
pub(super) fn discard(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need("DISCARD")?;
    let what = if c.eat("ALL") {
        Discard::All
    } else if c.eat("PLANS") {
        Discard::Plans
    } else if c.eat("SEQUENCES") {
        Discard::Sequences
    } else if c.eat("TEMP") || c.eat("TEMPORARY") {
        Discard::Temp
    } else {
        return Err(c.expected("ALL, PLANS, SEQUENCES or TEMP"));
    };
    Ok(Statement::Discard(what))
}

/// Parses UNLISTEN *. There is no LISTEN, so UNLISTEN of a single channel is not supported.
pub(super) fn unlisten(c: &mut Cursor<'_>) -> Parse<Statement> {
    if !matches!(c.peek_nth(1), Token::Mul) {
        return Err(c.unsupported("UNLISTEN"));
    }
    c.need("UNLISTEN")?;
    c.next();
    Ok(Statement::Discard(Discard::Channels))
}
