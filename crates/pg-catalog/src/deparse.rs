//! Keys as SQL text.

use crate::source::{Source, key_columns};
use catalog::{Column, KeyColumn, Table};
use types::ident;

/// `CREATE UNIQUE INDEX …` as PostgreSQL would print it for the key's index.
pub(crate) fn index_definition(source: &Source, table: &Table, qualified: bool) -> String {
    let name = ident::quote(table.key_name.as_deref().unwrap_or_default());
    let schema =
        if qualified { format!("{}.", ident::quote(source.catalog.schema_name(table))) } else { String::new() };
    let parts: Vec<String> = key_columns(table).map(|(_, part, column)| index_part(part, column)).collect();
    format!("CREATE UNIQUE INDEX {name} ON {schema}{} USING btree ({})", ident::quote(&table.name), parts.join(", "))
}

/// `PRIMARY KEY (…)`.
pub(crate) fn constraint_definition(table: &Table) -> String {
    let parts: Vec<String> = key_columns(table).map(|(_, part, column)| index_part(part, column)).collect();
    format!("PRIMARY KEY ({})", parts.join(", "))
}

/// A column with its order, as far as that differs from ASC NULLS LAST or DESC NULLS FIRST.
fn index_part(part: &KeyColumn, column: &Column) -> String {
    let order = if part.descending { " DESC" } else { "" };
    let nulls = match (part.descending, part.nulls_first) {
        _ if column.not_null => "",
        (false, true) => " NULLS FIRST",
        (true, false) => " NULLS LAST",
        _ => "",
    };
    format!("{}{order}{nulls}", ident::quote(&column.name))
}

/// The `number`th column of the key, from 1: its name.
pub(crate) fn index_column(table: &Table, number: usize) -> Option<String> {
    let (_, _, column) = key_columns(table).nth(number.checked_sub(1)?)?;
    Some(ident::quote(&column.name).into_owned())
}

/// A view's query as `pg_get_viewdef` shows it: as it was written, with schemas where names would not be found without.
pub(crate) fn view_definition(source: &Source, view: &catalog::View) -> String {
    format!(" {};", source.live.view_query(view))
}
