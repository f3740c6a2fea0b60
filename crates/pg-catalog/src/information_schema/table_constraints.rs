//! `table_constraints`: primary keys, UNIQUE and CHECK constraints, foreign keys, and NOT NULL as the CHECK that the standard takes it for.

use crate::rows::Rows;
use crate::shown_index::ShownIndex;
use crate::source::{Source, not_null_name, shown_columns};
use catalog::{DATABASE_NAME, Table};

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    for table in source.catalog.tables() {
        for index in ShownIndex::all_of(table).filter(|index| index.constraint.is_some()) {
            let kind = if index.primary { "PRIMARY KEY" } else { "UNIQUE" };
            add_timed(source, rows, (table, index.name, kind), index.deferrable);
        }
        for check in &table.checks {
            add(source, rows, table, &check.name, "CHECK");
        }
        for key in &table.foreign_keys {
            add_timed(source, rows, (table, &key.name, "FOREIGN KEY"), (key.deferrable, key.deferred));
        }
        for (number, _) in shown_columns(table).filter(|(_, column)| column.not_null) {
            add(source, rows, table, &not_null_name(table, number), "CHECK");
        }
    }
}

fn add(source: &Source, rows: &mut Rows, table: &Table, name: &str, kind: &str) {
    add_timed(source, rows, (table, name, kind), (false, false));
}

/// With whether it is deferrable and deferred.
fn add_timed(
    source: &Source,
    rows: &mut Rows,
    (table, name, kind): (&Table, &str, &str),
    (deferrable, deferred): (bool, bool),
) {
    let yes = |holds: bool| if holds { "YES" } else { "NO" };
    let schema = source.catalog.schema_name(table);
    rows.add([
        ("constraint_catalog", DATABASE_NAME.into()),
        ("constraint_schema", schema.into()),
        ("constraint_name", name.into()),
        ("table_catalog", DATABASE_NAME.into()),
        ("table_schema", schema.into()),
        ("table_name", table.name.as_str().into()),
        ("constraint_type", kind.into()),
        ("is_deferrable", yes(deferrable).into()),
        ("initially_deferred", yes(deferred).into()),
        ("enforced", "YES".into()),
    ]);
}
