//! `SHOW TABLES [IN schema] [LIKE 'pattern']` and `SHOW SCHEMAS [LIKE 'pattern']` become queries of the catalogs.
//!
//! As queries they are prepared, described and cached like any other, and only this grammar has a special case for
//! them.

use crate::Statement;
use crate::parser::{Cursor, Parse};
use sqlparser::tokenizer::Token;

const TABLES: &str = "SELECT n.nspname AS table_schem, c.relname AS table_name, CASE c.relkind WHEN 'r' THEN 'TABLE' \
    WHEN 'v' THEN 'VIEW' ELSE 'MATERIALIZED VIEW' END AS table_type \
    FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace";
const SCHEMAS: &str = "SELECT s.schema_name AS table_schem, s.catalog_name AS table_catalog \
    FROM information_schema.schemata AS s";

/// Parses what follows SHOW; `None` for anything else.
pub(crate) fn show_tables(c: &mut Cursor<'_>) -> Parse<Option<Statement>> {
    // Before a period, the word is the first part of a setting's name.
    if matches!(c.peek_nth(1), Token::Period) {
        return Ok(None);
    }
    let mut conditions = Vec::new();
    let (list, name) = if c.eat("TABLES") {
        conditions.push("c.relkind IN ('r', 'v', 'm')".to_owned());
        conditions.push(match c.eat("IN") {
            true => format!("n.nspname = {}", quoted(&c.name()?)),
            false => "n.nspname NOT IN ('pg_catalog', 'information_schema')".to_owned(),
        });
        (TABLES, "c.relname")
    } else if c.eat("SCHEMAS") {
        (SCHEMAS, "s.schema_name")
    } else {
        return Ok(None);
    };
    if c.eat("LIKE") {
        conditions.push(format!("{name} LIKE {}", quoted(&c.string()?)));
    }
    let filter = if conditions.is_empty() { String::new() } else { format!(" WHERE {}", conditions.join(" AND ")) };
    match crate::parse_query(&format!("{list}{filter} ORDER BY 1, 2")) {
        Ok(query) => Ok(Some(Statement::Query(query))),
        Err(_) => Err(c.syntax()),
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
