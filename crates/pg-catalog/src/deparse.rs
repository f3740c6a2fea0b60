//! Keys and CHECK constraints as SQL text.

use crate::source::{Source, key_columns};
use catalog::{Check, Column, KeyColumn, Table};

/// `CREATE UNIQUE INDEX …` as PostgreSQL would print it for the key's index.
pub(crate) fn index_definition(source: &Source, table: &Table, qualified: bool) -> String {
    let name = source.quote(table.key_name.as_deref().unwrap_or_default());
    let schema =
        if qualified { format!("{}.", source.quote(source.catalog.schema_name(table))) } else { String::new() };
    let parts: Vec<String> = key_columns(table).map(|(_, part, column)| index_part(source, part, column)).collect();
    let (table, parts) = (source.quote(&table.name), parts.join(", "));
    // `btree` is the name of the way it is kept.
    format!("CREATE UNIQUE INDEX {name} ON {schema}{table} USING {} ({parts})", source.quote("btree"))
}

/// `PRIMARY KEY (…)`.
pub(crate) fn constraint_definition(source: &Source, table: &Table) -> String {
    let parts: Vec<String> = key_columns(table).map(|(_, part, column)| index_part(source, part, column)).collect();
    format!("PRIMARY KEY ({})", parts.join(", "))
}

/// `CHECK (…)`, with its condition as it was written.
pub(crate) fn check_definition(check: &Check, pretty: bool) -> String {
    if pretty { format!("CHECK ({})", check.text) } else { format!("CHECK (({}))", check.text) }
}

/// A column with its order, as far as that differs from ASC NULLS LAST or DESC NULLS FIRST.
fn index_part(source: &Source, part: &KeyColumn, column: &Column) -> String {
    let order = if part.descending { " DESC" } else { "" };
    let nulls = match (part.descending, part.nulls_first) {
        _ if column.not_null => "",
        (false, true) => " NULLS FIRST",
        (true, false) => " NULLS LAST",
        _ => "",
    };
    format!("{}{order}{nulls}", source.quote(&column.name))
}

/// The `number`th column of the key, from 1: its name.
pub(crate) fn index_column(source: &Source, table: &Table, number: usize) -> Option<String> {
    let (_, _, column) = key_columns(table).nth(number.checked_sub(1)?)?;
    Some(source.quote(&column.name))
}

/// A view's query as `pg_get_viewdef` shows it: as it was written, with schemas where names would not be found without.
pub(crate) fn view_definition(source: &Source, view: &catalog::View) -> String {
    format!(" {};", source.live.view_query(view))
}
