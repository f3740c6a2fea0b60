//! Prints indexes and constraints as SQL.

use crate::shown_index::{ShownIndex, ShownOf, ShownPart};
use crate::source::Source;
use catalog::Check;

/// `CREATE [UNIQUE] INDEX …` in PostgreSQL's form.
pub(crate) fn index_definition(source: &Source, index: &ShownIndex<'_>, qualified: bool, pretty: bool) -> String {
    let unique = if index.unique { "UNIQUE " } else { "" };
    let name = source.quote(index.name);
    let schema =
        if qualified { format!("{}.", source.quote(source.catalog.schema_name(index.table))) } else { String::new() };
    let parts: Vec<String> = index.parts.iter().map(|part| index_part(source, index, part, pretty)).collect();
    let (table, parts) = (source.quote(&index.table.name), parts.join(", "));
    let nulls = if index.nulls_not_distinct { " NULLS NOT DISTINCT" } else { "" };
    // `btree`: the access method of every index in `pg_am`.
    let method = source.quote("btree");
    let include = included(source, index);
    let predicate = index.predicate.map(|predicate| format!(" WHERE {}", predicate.shown(pretty)));
    let predicate = predicate.unwrap_or_default();
    let with = index.refresh.and_then(|refresh| refresh.every).map(|every| {
        let mut text = String::new();
        types::print_interval(types::Interval { months: 0, days: 0, micros: every }, &mut text);
        format!(" WITH (refresh='{text}')")
    });
    let with = with.unwrap_or_default();
    format!("CREATE {unique}INDEX {name} ON {schema}{table} USING {method} ({parts}){include}{nulls}{with}{predicate}")
}

/// `PRIMARY KEY (…)`, `UNIQUE (…)`.
pub(crate) fn constraint_definition(source: &Source, index: &ShownIndex<'_>) -> String {
    let timing = match index.deferrable {
        (true, true) => " DEFERRABLE INITIALLY DEFERRED",
        (true, false) => " DEFERRABLE",
        (false, _) => "",
    };
    if index.primary {
        let parts: Vec<String> = index.parts.iter().map(|part| index_part(source, index, part, false)).collect();
        return format!("PRIMARY KEY ({}){timing}", parts.join(", "));
    }
    let columns: Vec<String> = index.parts.iter().map(|part| source.quote(part.of.name())).collect();
    let nulls = if index.nulls_not_distinct { " NULLS NOT DISTINCT" } else { "" };
    format!("UNIQUE{nulls} ({}){}{timing}", columns.join(", "), included(source, index))
}

fn included(source: &Source, index: &ShownIndex<'_>) -> String {
    if index.include.is_empty() {
        return String::new();
    }
    let columns: Vec<String> = index.include.iter().map(|(_, column)| source.quote(&column.name)).collect();
    format!(" INCLUDE ({})", columns.join(", "))
}

/// `CHECK (…)`, with the condition as written.
pub(crate) fn check_definition(check: &Check, pretty: bool) -> String {
    let suffix = if check.validated { "" } else { " NOT VALID" };
    if pretty { format!("CHECK ({}){suffix}", check.text) } else { format!("CHECK (({})){suffix}", check.text) }
}

/// A column with its sort options, without the defaults ASC NULLS LAST and DESC NULLS FIRST.
fn index_part(source: &Source, index: &ShownIndex<'_>, part: &ShownPart<'_>, pretty: bool) -> String {
    let order = if part.descending { " DESC" } else { "" };
    let nulls = match (part.descending, part.nulls_first) {
        // The order of NULLs is irrelevant for NOT NULL columns.
        _ if index.primary && part.of.column().is_some_and(|column| column.not_null) => "",
        (false, true) => " NULLS FIRST",
        (true, false) => " NULLS LAST",
        _ => "",
    };
    format!("{}{order}{nulls}", shown_of(source, part.of, pretty))
}

/// A column's name, or an expression as an index part.
fn shown_of(source: &Source, of: ShownOf<'_>, pretty: bool) -> String {
    match of {
        ShownOf::Column(_, column) => source.quote(&column.name),
        ShownOf::Expression(expression) => expression.as_part(pretty),
    }
}

/// Column `number` of an index, from 1: its name or its expression.
pub(crate) fn index_column(source: &Source, index: &ShownIndex<'_>, number: usize, pretty: bool) -> Option<String> {
    Some(shown_of(source, index.columns().nth(number.checked_sub(1)?)?, pretty))
}

/// A view's query for `pg_get_viewdef`: as written, with schemas for names that the search path does not find.
pub(crate) fn view_definition(source: &Source, view: &catalog::View) -> String {
    format!(" {};", source.live.view_query(&view.query, &view.search_path))
}

/// The query of a materialized view, as [`view_definition`].
pub(crate) fn materialized_definition(source: &Source, view: &catalog::Materialized) -> String {
    format!(" {};", source.live.view_query(&view.query, &view.search_path))
}
