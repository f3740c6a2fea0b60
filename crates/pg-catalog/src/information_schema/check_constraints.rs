//! `check_constraints`: CHECK constraints, and NOT NULL, which is a CHECK in the SQL standard.

use crate::rows::Rows;
use crate::source::{Source, not_null_name, shown_columns};
use catalog::{DATABASE_NAME, Table};
use types::ident;

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    for table in source.catalog.tables() {
        for check in &table.checks {
            add(source, rows, table, check.name.clone(), format!("(({}))", check.text));
        }
        for (number, column) in shown_columns(table).filter(|(_, column)| column.not_null) {
            let clause = format!("{} IS NOT NULL", ident::quote(&column.name));
            add(source, rows, table, not_null_name(table, number), clause);
        }
    }
}

fn add(source: &Source, rows: &mut Rows, table: &Table, name: String, clause: String) {
    rows.add([
        ("constraint_catalog", DATABASE_NAME.into()),
        ("constraint_schema", source.catalog.schema_name(table).into()),
        ("constraint_name", name.into()),
        ("check_clause", clause.into()),
    ]);
}
