//! `table_constraints`: primary keys, UNIQUE and CHECK constraints, foreign keys, and NOT NULL, which is a CHECK in the
//! SQL standard.

use crate::rows::{Cell, Rows};
use crate::shown_index::ShownIndex;
use crate::source::{Source, not_null_name, shown_columns};
use catalog::{DATABASE_NAME, Table};

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    for table in source.catalog.tables() {
        for index in ShownIndex::all_of(table).filter(|index| index.constraint.is_some()) {
            let (kind, nulls) = match index.primary {
                true => ("PRIMARY KEY", Cell::Null),
                false => ("UNIQUE", yes(!index.nulls_not_distinct).into()),
            };
            add_all(source, rows, (table, index.name, kind), index.deferrable, nulls);
        }
        for check in &table.checks {
            add(source, rows, table, &check.name, "CHECK");
        }
        for key in &table.foreign_keys {
            add_all(source, rows, (table, &key.name, "FOREIGN KEY"), (key.deferrable, key.deferred), Cell::Null);
        }
        for (number, _) in shown_columns(table).filter(|(_, column)| column.not_null) {
            add(source, rows, table, &not_null_name(table, number), "CHECK");
        }
    }
}

fn add(source: &Source, rows: &mut Rows, table: &Table, name: &str, kind: &str) {
    add_all(source, rows, (table, name, kind), (false, false), Cell::Null);
}

fn yes(holds: bool) -> &'static str {
    if holds { "YES" } else { "NO" }
}

/// Adds a row with the `is_deferrable`, `initially_deferred` and `nulls_distinct` columns.
fn add_all(
    source: &Source,
    rows: &mut Rows,
    (table, name, kind): (&Table, &str, &str),
    (deferrable, deferred): (bool, bool),
    nulls_distinct: Cell,
) {
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
        ("nulls_distinct", nulls_distinct),
    ]);
}
