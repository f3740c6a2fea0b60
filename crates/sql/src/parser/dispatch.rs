//! Chooses the grammar of a statement by its first words.

use super::{
    Cursor, Parse, alter, comment, copy, create, cursor_statements, delete, drop, explain, index, insert, job, lock,
    maintenance, materialized, prepare, row_locks,
};
use super::{set, transaction, unsupported, update};
use crate::Statement;
use sqlparser::tokenizer::Token;

/// Parses one statement.
pub(super) fn statement(c: &mut Cursor<'_>) -> Parse<Statement> {
    let Token::Word(word) = c.peek() else {
        return if matches!(c.peek(), Token::LParen) { query(c) } else { Err(c.syntax()) };
    };
    if word.quote_style.is_some() {
        return Err(c.syntax());
    }
    match word.value.to_ascii_uppercase().as_str() {
        "SELECT" | "VALUES" | "TABLE" => query(c),
        "WITH" => with(c),
        "INSERT" => insert::insert(c, None),
        "UPSERT" => insert::upsert(c),
        "UPDATE" => update::update(c, None),
        "DELETE" => delete::delete(c, None),
        "CREATE" => create::create(c),
        "DROP" => drop::drop(c),
        "ALTER" => alter::alter(c),
        "TRUNCATE" => drop::truncate(c),
        "EXPLAIN" => explain::explain(c),
        "SET" => set::set(c),
        "SHOW" => set::show(c),
        "RESET" => set::reset(c),
        "BEGIN" | "START" | "COMMIT" | "END" | "ROLLBACK" | "ABORT" => transaction::transaction(c),
        "SAVEPOINT" | "RELEASE" => transaction::savepoint(c),
        "COPY" => copy::copy(c),
        "COMMENT" => comment::comment(c),
        "PREPARE" => prepare::prepare(c),
        "EXECUTE" => prepare::execute(c),
        "DEALLOCATE" => prepare::deallocate(c),
        "DISCARD" => prepare::discard(c),
        "DECLARE" => cursor_statements::declare(c),
        "FETCH" | "MOVE" => cursor_statements::fetch(c),
        "CLOSE" => cursor_statements::close(c),
        "LOCK" => lock::lock(c),
        "PAUSE" | "RESUME" | "CANCEL" => job::control(c),
        "CHECK" => index::check(c),
        "REFRESH" => materialized::refresh(c),
        "REINDEX" => index::reindex(c),
        "UNLISTEN" => prepare::unlisten(c),
        "ANALYZE" | "ANALYSE" => maintenance::analyze(c),
        "VACUUM" => maintenance::vacuum(c),
        _ => Err(unsupported::statement(c)),
    }
}

/// Parses a query that is a statement.
pub(super) fn query(c: &mut Cursor<'_>) -> Parse<Statement> {
    let query = c.query()?;
    if c.at("INTO") {
        return Err(c.unsupported_hint("SELECT INTO", "Use CREATE TABLE AS."));
    }
    row_locks::statement(c, query)
}

/// Parses WITH before a query, INSERT, UPDATE or DELETE.
fn with(c: &mut Cursor<'_>) -> Parse<Statement> {
    let with = c.attempt(|c| {
        let with = with_clause(c)?;
        Ok(["INSERT", "UPDATE", "DELETE", "UPSERT", "MERGE"].iter().any(|verb| c.at(verb)).then_some(with))
    })?;
    let Some(with) = with else { return query(c) };
    if c.at("INSERT") {
        insert::insert(c, Some(with))
    } else if c.at("UPDATE") {
        update::update(c, Some(with))
    } else if c.at("DELETE") {
        delete::delete(c, Some(with))
    } else {
        Err(c.unsupported("WITH before this statement"))
    }
}

fn with_clause(c: &mut Cursor<'_>) -> Parse<crate::ast::With> {
    let with_token = c.with_parser(|p| Ok(p.peek_token()))?;
    c.need("WITH")?;
    let recursive = c.eat("RECURSIVE");
    let cte_tables = c.list(|c| c.with_parser(|p| p.parse_cte()))?;
    Ok(crate::ast::With { with_token: with_token.into(), recursive, cte_tables })
}
