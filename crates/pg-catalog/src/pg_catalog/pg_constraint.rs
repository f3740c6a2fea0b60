//! `pg_constraint`: primary keys, UNIQUE and CHECK constraints, foreign keys.

use crate::rows::Rows;
use crate::shown_foreign_key::{ShownForeignKey, action_code};
use crate::shown_index::ShownIndex;
use crate::source::{Source, check_columns};
use catalog::{Column, Table};

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    for table in source.catalog.tables() {
        checks(rows, table);
        ShownForeignKey::all_of(source, table).for_each(|key| foreign_key(rows, &key));
        for index in ShownIndex::all_of(table) {
            unique(rows, &index);
        }
    }
}

/// The constraint of an index.
fn unique(rows: &mut Rows, index: &ShownIndex<'_>) {
    let Some(constraint) = index.constraint else { return };
    let columns: Vec<i64> = index.parts.iter().map(|part| i64::from(part.of.number())).collect();
    rows.add([
        ("oid", constraint.into()),
        ("conname", index.name.into()),
        ("connamespace", index.table.schema.0.into()),
        ("contype", if index.primary { "p" } else { "u" }.into()),
        ("condeferrable", index.deferrable.0.into()),
        ("condeferred", index.deferrable.1.into()),
        ("convalidated", true.into()),
        ("conrelid", index.table.oid.0.into()),
        ("conindid", index.oid.into()),
        ("confupdtype", " ".into()),
        ("confdeltype", " ".into()),
        ("confmatchtype", " ".into()),
        ("conislocal", true.into()),
        ("connoinherit", true.into()),
        ("conkey", columns.into()),
    ]);
}

fn foreign_key(rows: &mut Rows, shown: &ShownForeignKey<'_>) {
    let numbers =
        |columns: Vec<(i16, &Column)>| -> Vec<i64> { columns.iter().map(|(number, _)| i64::from(*number)).collect() };
    let (key, set) = (shown.key, numbers(shown.set_columns()));
    rows.add([
        ("oid", key.oid.into()),
        ("conname", key.name.as_str().into()),
        ("connamespace", shown.table.schema.0.into()),
        ("contype", "f".into()),
        ("condeferrable", key.deferrable.into()),
        ("condeferred", key.deferred.into()),
        ("convalidated", key.validated.into()),
        ("conrelid", shown.table.oid.0.into()),
        ("conindid", key.parent_index.into()),
        ("confrelid", key.parent.0.into()),
        ("confupdtype", action_code(key.on_update).into()),
        ("confdeltype", action_code(key.on_delete).into()),
        ("confmatchtype", if key.full { "f" } else { "s" }.into()),
        ("conislocal", true.into()),
        ("connoinherit", true.into()),
        ("conkey", numbers(shown.columns()).into()),
        ("confkey", numbers(shown.parent_columns()).into()),
        ("confdelsetcols", (!set.is_empty()).then_some(set).into()),
    ]);
}

fn checks(rows: &mut Rows, table: &Table) {
    for check in &table.checks {
        let columns: Vec<i64> = check_columns(table, check).map(|(number, _)| i64::from(number)).collect();
        rows.add([
            ("oid", check.oid.into()),
            ("conname", check.name.as_str().into()),
            ("connamespace", table.schema.0.into()),
            ("contype", "c".into()),
            ("convalidated", check.validated.into()),
            ("conrelid", table.oid.0.into()),
            ("confupdtype", " ".into()),
            ("confdeltype", " ".into()),
            ("confmatchtype", " ".into()),
            ("conislocal", true.into()),
            ("conkey", (!columns.is_empty()).then_some(columns).into()),
            // The expression is its source text, as in `pg_attrdef`.
            ("conbin", check.text.as_str().into()),
        ]);
    }
}
