//! `pg_depend`: dependencies between objects.

use crate::oid::{PG_ATTRDEF, PG_CLASS, PG_CONSTRAINT, PG_NAMESPACE, PG_REWRITE, PG_TYPE, row_types};
use crate::rows::Rows;
use crate::shown_foreign_key::ShownForeignKey;
use crate::shown_index::ShownIndex;
use crate::source::{Relation, Source, check_columns, default_oid, shown_columns};
use catalog::{ColumnId, Table};
use std::sync::Arc;

/// An object: the oid of its system catalog, its own oid, and the column number or 0.
type Thing = (u32, u32, i16);

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    for table in source.catalog.tables() {
        depend(rows, relation(table.oid.0), (PG_NAMESPACE, table.schema.0, 0), "n");
        defaults(table, rows);
        checks(table, rows);
        foreign_keys(source, table, rows);
        indexes(table, rows);
    }
    sequences(source, rows);
    views(source, rows);
    types(source, rows);
}

/// A relation.
fn relation(oid: u32) -> Thing {
    (PG_CLASS, oid, 0)
}

fn defaults(table: &Table, rows: &mut Rows) {
    for (number, column) in shown_columns(table).filter(|(_, column)| column.default.is_some()) {
        let default = (PG_ATTRDEF, default_oid(table, number), 0);
        depend(rows, default, (PG_CLASS, table.oid.0, number), "a");
        for sequence in column.sequence.iter().chain(&column.default_sequences) {
            depend(rows, default, relation(sequence.0), "n");
        }
    }
}

fn checks(table: &Table, rows: &mut Rows) {
    for check in &table.checks {
        let constraint = (PG_CONSTRAINT, check.oid, 0);
        for (number, _) in check_columns(table, check) {
            depend(rows, constraint, (PG_CLASS, table.oid.0, number), "a");
            depend(rows, constraint, (PG_CLASS, table.oid.0, number), "n");
        }
        if check.columns.is_empty() {
            depend(rows, constraint, relation(table.oid.0), "a");
        }
    }
}

fn foreign_keys(source: &Source, table: &Arc<Table>, rows: &mut Rows) {
    for shown in ShownForeignKey::all_of(source, table) {
        let constraint = (PG_CONSTRAINT, shown.key.oid, 0);
        for (number, _) in shown.columns() {
            depend(rows, constraint, (PG_CLASS, table.oid.0, number), "a");
        }
        for (number, _) in shown.parent_columns() {
            depend(rows, constraint, (PG_CLASS, shown.parent.oid.0, number), "n");
        }
        depend(rows, constraint, relation(shown.key.parent_index), "n");
    }
}

/// The index of a constraint depends on the constraint, and the constraint on its columns.
fn indexes(table: &Arc<Table>, rows: &mut Rows) {
    for index in ShownIndex::all_of(table) {
        let of_columns = match index.constraint {
            Some(constraint) => (PG_CONSTRAINT, constraint, 0),
            None => relation(index.oid),
        };
        for number in index.depends_on() {
            depend(rows, of_columns, (PG_CLASS, table.oid.0, number), "a");
        }
        if index.constraint.is_some() {
            depend(rows, relation(index.oid), of_columns, "i");
        }
    }
}

fn sequences(source: &Source, rows: &mut Rows) {
    for sequence in source.catalog.sequences() {
        depend(rows, relation(sequence.oid.0), (PG_NAMESPACE, sequence.schema.0, 0), "n");
        if let Some(owner) = sequence.owner {
            let column = (PG_CLASS, owner.table.0, number_of(owner.column));
            depend(rows, relation(sequence.oid.0), column, if owner.identity { "i" } else { "a" });
        }
    }
}

/// A view depends on its schema; its rewrite rule depends on the relations that the query reads.
fn views(source: &Source, rows: &mut Rows) {
    for view in source.catalog.views() {
        depend(rows, relation(view.oid.0), (PG_NAMESPACE, view.schema.0, 0), "n");
    }
    for (view, reads) in source.catalog.readers() {
        let rule = (PG_REWRITE, view.0, 0);
        depend(rows, rule, relation(view.0), "i");
        for read in reads {
            if read.columns.is_empty() {
                depend(rows, rule, relation(read.relation.0), "n");
            }
            for column in &read.columns {
                depend(rows, rule, (PG_CLASS, read.relation.0, number_of(*column)), "n");
            }
        }
    }
}

fn number_of(column: ColumnId) -> i16 {
    i16::try_from(column.0).unwrap_or(i16::MAX)
}

/// A row type depends on its relation, and its array type on the row type.
fn types(source: &Source, rows: &mut Rows) {
    for row in row_types(source).filter(|row| !matches!(row.relation, Relation::Computed { .. })) {
        depend(rows, (PG_TYPE, row.oid, 0), relation(row.relation.oid()), "i");
        depend(rows, (PG_TYPE, row.array, 0), (PG_TYPE, row.oid, 0), "i");
    }
}

fn depend(rows: &mut Rows, dependent: Thing, on: Thing, how: &str) {
    rows.add([
        ("classid", dependent.0.into()),
        ("objid", dependent.1.into()),
        ("objsubid", dependent.2.into()),
        ("refclassid", on.0.into()),
        ("refobjid", on.1.into()),
        ("refobjsubid", on.2.into()),
        ("deptype", how.into()),
    ]);
}
