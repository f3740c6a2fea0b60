//! `constraint_column_usage`: columns of primary keys, UNIQUE and CHECK constraints, and referenced columns of foreign
//! keys.

use crate::rows::Rows;
use crate::shown_foreign_key::ShownForeignKey;
use crate::shown_index::ShownIndex;
use crate::source::{Source, check_columns};
use catalog::{Column, DATABASE_NAME, Table};

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    for table in source.catalog.tables() {
        let schema = source.catalog.schema_name(table);
        for check in &table.checks {
            let of = (schema, check.name.as_str());
            check_columns(table, check).for_each(|(_, column)| add(source, rows, of, table, column));
        }
        for shown in ShownForeignKey::all_of(source, table) {
            let of = (schema, shown.key.name.as_str());
            shown.parent_columns().iter().for_each(|(_, column)| add(source, rows, of, shown.parent, column));
        }
        for index in ShownIndex::all_of(table).filter(|index| index.constraint.is_some()) {
            let columns = index.parts.iter().filter_map(|part| part.of.column());
            columns.for_each(|column| add(source, rows, (schema, index.name), table, column));
        }
    }
}

/// `of` is the constraint's schema and name, `table` is the table of the column.
fn add(source: &Source, rows: &mut Rows, of: (&str, &str), table: &Table, column: &Column) {
    let schema = source.catalog.schema_name(table);
    rows.add([
        ("constraint_catalog", DATABASE_NAME.into()),
        ("constraint_schema", of.0.into()),
        ("constraint_name", of.1.into()),
        ("table_catalog", DATABASE_NAME.into()),
        ("table_schema", schema.into()),
        ("table_name", table.name.as_str().into()),
        ("column_name", column.name.as_str().into()),
    ]);
}
