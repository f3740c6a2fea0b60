//! `check_constraints`: NOT NULL, which the standard takes for a CHECK.

use crate::definition::{Definition, Kind};
use crate::rows::Rows;
use crate::source::{Source, not_null_name, shown_columns};
use catalog::DATABASE_NAME;
use types::ident;

pub(super) static CHECK_CONSTRAINTS: Definition = Definition {
    oid: 13260,
    name: "check_constraints",
    kind: Kind::View,
    columns: "constraint_catalog:name constraint_schema:name constraint_name:name check_clause:varchar",
    rows: Some(rows),
};

fn rows(source: &Source, rows: &mut Rows) {
    for table in source.catalog.tables() {
        for (number, column) in shown_columns(table).filter(|(_, column)| column.not_null) {
            rows.add([
                ("constraint_catalog", DATABASE_NAME.into()),
                ("constraint_schema", source.catalog.schema_name(table).into()),
                ("constraint_name", not_null_name(table, number).into()),
                ("check_clause", format!("{} IS NOT NULL", ident::quote(&column.name)).into()),
            ]);
        }
    }
}
