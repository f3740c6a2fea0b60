//! CREATE INDEX, DROP INDEX, ALTER INDEX, REINDEX, CHECK INDEX, and UNIQUE constraints. This file has the clauses that
//! indexes and constraints share.

mod alter;
mod create;
mod part;
mod reindex;
mod unique;

pub(super) use alter::{alter_index, drop_index};
pub(super) use create::{at_create, create_index};
pub(super) use part::part_of;
pub(super) use reindex::{check, reindex};
pub(super) use unique::{column_unique, constraint_storage, key_using, table_unique, timing_of, unique_using};

use super::{Cursor, Parse};
use crate::phoenix::options;
use crate::statement::{ColumnName, TableOption};
use sqlparser::tokenizer::Token;

fn include(c: &mut Cursor<'_>, families: &mut Vec<ColumnName>) -> Parse<Vec<String>> {
    if !c.eat("INCLUDE") {
        return Ok(Vec::new());
    }
    c.parenthesised(|c| {
        if matches!(c.peek(), Token::LParen) || matches!(c.peek_nth(1), Token::LParen) {
            return Err(c.unsupported("an expression among included columns"));
        }
        if part::at_family(c) { part::of_family(c, families) } else { c.name() }
    })
}

/// `NULLS [NOT] DISTINCT`.
fn nulls_not_distinct(c: &mut Cursor<'_>) -> Parse<bool> {
    if c.eat_all(&["NULLS", "NOT", "DISTINCT"]) {
        return Ok(true);
    }
    c.eat_all(&["NULLS", "DISTINCT"]);
    Ok(false)
}

fn with(c: &mut Cursor<'_>) -> Parse<Vec<TableOption>> {
    if !c.at("WITH") {
        return Ok(Vec::new());
    }
    c.next();
    options::with(c)
}
