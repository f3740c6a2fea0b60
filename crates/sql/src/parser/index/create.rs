//! CREATE INDEX, in PostgreSQL's syntax and in Phoenix's.

use super::part::part;
use super::{include, nulls_not_distinct, with};
use crate::Statement;
use crate::parser::{Cursor, Parse};
use crate::phoenix::{options, split_on};
use crate::statement::{CreateIndex, TableOption, WrittenExpr};
use sqlparser::ast::Expr;

/// Does CREATE INDEX come next?
pub(in crate::parser) fn at_create(c: &Cursor<'_>) -> bool {
    let kind = |n: usize| ["UNIQUE", "LOCAL", "UNCOVERED"].iter().any(|word| c.at_nth(n, word));
    (1..4).find(|n| !kind(*n)).is_some_and(|n| c.at_nth(n, "INDEX"))
}

/// Parses CREATE [UNIQUE] INDEX [IF NOT EXISTS] [name] ON [ONLY] t [USING btree] (…) …, and Phoenix's CREATE
/// [UNCOVERED] [LOCAL] INDEX ….
pub(in crate::parser) fn create_index(c: &mut Cursor<'_>) -> Parse<Statement> {
    c.need("CREATE")?;
    let (mut unique, mut local, mut uncovered) = (false, false, false);
    while !c.eat("INDEX") {
        let kind = if c.at("LOCAL") {
            &mut local
        } else if c.at("UNCOVERED") {
            &mut uncovered
        } else if c.at("UNIQUE") {
            &mut unique
        } else {
            return Err(c.expected("INDEX"));
        };
        if std::mem::replace(kind, true) {
            return Err(c.syntax());
        }
        c.next();
    }
    if unique && (local || uncovered) {
        return Err(c.unsupported("a UNIQUE index that is LOCAL or UNCOVERED"));
    }
    let concurrently = c.eat("CONCURRENTLY");
    let place = c.location();
    let if_not_exists = c.if_not_exists();
    let name = if c.at("ON") { None } else { Some(c.name()?) };
    if if_not_exists && name.is_none() {
        return Err(c.invalid_at(place, "IF NOT EXISTS needs a name of the index"));
    }
    c.need("ON")?;
    c.eat("ONLY"); // There is no inheritance.
    let table = c.object_name()?;
    let method = if c.eat("USING") { Some(c.name()?) } else { None };
    let mut families = Vec::new();
    let parts = c.parenthesised(|c| part(c, &mut families))?;
    let include = include(c, &mut families)?;
    let nulls_not_distinct = nulls_not_distinct(c)?;
    if uncovered && !include.is_empty() {
        return Err(c.invalid("an UNCOVERED index includes no columns"));
    }
    let mut options = with(c)?;
    let tail = tail(c, &mut options)?;
    let Tail { tablespace, predicate, split_on, is_async } = tail;
    let index = CreateIndex {
        unique,
        concurrently,
        is_async,
        if_not_exists,
        name,
        table,
        method,
        parts,
        include,
        families,
        nulls_not_distinct,
        options,
        tablespace,
        predicate,
        local,
        uncovered,
        split_on,
    };
    Ok(Statement::CreateIndex(Box::new(index)))
}

/// The clauses after an index's columns.
#[derive(Default)]
struct Tail {
    tablespace: Option<String>,
    predicate: Option<WrittenExpr>,
    split_on: Vec<Vec<Expr>>,
    is_async: bool,
}

/// Parses TABLESPACE, WHERE, Phoenix's ASYNC, properties and SPLIT ON.
fn tail(c: &mut Cursor<'_>, options: &mut Vec<TableOption>) -> Parse<Tail> {
    let mut tail = Tail::default();
    if c.eat("TABLESPACE") {
        tail.tablespace = Some(c.name()?);
    }
    if c.eat("WHERE") {
        tail.predicate = Some(c.written_expr()?);
    }
    tail.is_async = c.eat("ASYNC");
    if options::at_bare(c) {
        options.extend(options::bare(c)?);
    }
    tail.split_on = split_on::split_on(c)?;
    tail.is_async |= !tail.is_async && c.eat("ASYNC");
    Ok(tail)
}
