//! `constraint_column_usage`: columns of primary keys, UNIQUE and CHECK constraints.

use crate::definition::{Definition, Kind};
use crate::rows::Rows;
use crate::shown_index::ShownIndex;
use crate::source::{Source, check_columns};
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
        for index in ShownIndex::all_of(table).filter(|index| index.constraint.is_some()) {
            index.parts.iter().for_each(|part| add(source, rows, table, index.name, part.column));
        }
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
