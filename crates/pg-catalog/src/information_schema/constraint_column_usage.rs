//! `constraint_column_usage`: columns of primary keys and CHECK constraints.

use crate::definition::{Definition, Kind};
use crate::rows::Rows;
use crate::source::{Source, check_columns, key_columns};
use catalog::{Column, DATABASE_NAME, Table};

pub(super) static CONSTRAINT_COLUMN_USAGE: Definition = Definition {
    oid: 13300,
    name: "constraint_column_usage",
    kind: Kind::View,
    columns: "table_catalog:name table_schema:name table_name:name column_name:name constraint_catalog:name \
    constraint_schema:name constraint_name:name",
    rows: Some(rows),
};

fn rows(source: &Source, rows: &mut Rows) {
    for table in source.catalog.tables() {
        for check in &table.checks {
            check_columns(table, check).for_each(|(_, column)| add(source, rows, table, &check.name, column));
        }
        let Some(key) = &table.key_name else { continue };
        key_columns(table).for_each(|(_, _, column)| add(source, rows, table, key, column));
    }
}

fn add(source: &Source, rows: &mut Rows, table: &Table, constraint: &str, column: &Column) {
    let schema = source.catalog.schema_name(table);
    rows.add([
        ("constraint_catalog", DATABASE_NAME.into()),
        ("constraint_schema", schema.into()),
        ("constraint_name", constraint.into()),
        ("table_catalog", DATABASE_NAME.into()),
        ("table_schema", schema.into()),
        ("table_name", table.name.as_str().into()),
        ("column_name", column.name.as_str().into()),
    ]);
}
