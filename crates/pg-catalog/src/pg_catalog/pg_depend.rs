//! `pg_depend`: what goes when a table or a column of it goes.

use super::{pg_attrdef, pg_class, pg_constraint, pg_namespace, pg_rewrite, pg_type};
use crate::definition::{Definition, Kind};
use crate::oid::row_types;
use crate::rows::Rows;
use crate::shown_foreign_key::ShownForeignKey;
use crate::shown_index::ShownIndex;
use crate::source::{Relation, Source, check_columns, default_oid, shown_columns};

pub(super) static PG_DEPEND: Definition = Definition {
    oid: 2608,
    name: "pg_depend",
    kind: Kind::Table,
    columns: "classid:oid! objid:oid! objsubid:int4! refclassid:oid! refobjid:oid! refobjsubid:int4! deptype:char!",
    rows: Some(rows),
};

/// A thing: the catalog table it is in, its oid, its column.
type Thing = (u32, u32, i16);

fn rows(source: &Source, rows: &mut Rows) {
    let class = pg_class::PG_CLASS.oid;
    for table in source.catalog.tables() {
        let oid = table.oid.0;
        depend(rows, (class, oid, 0), (pg_namespace::PG_NAMESPACE.oid, table.schema.0, 0), "n");
        for (number, column) in shown_columns(table).filter(|(_, column)| column.default.is_some()) {
            let default = (pg_attrdef::PG_ATTRDEF.oid, default_oid(table, number), 0);
            depend(rows, default, (class, oid, number), "a");
            if let Some(sequence) = column.sequence {
                depend(rows, default, (class, sequence.0, 0), "n");
            }
        }
        for check in &table.checks {
            let constraint = (pg_constraint::PG_CONSTRAINT.oid, check.oid, 0);
            for (number, _) in check_columns(table, check) {
                depend(rows, constraint, (class, oid, number), "a");
                depend(rows, constraint, (class, oid, number), "n");
            }
            if check.columns.is_empty() {
                depend(rows, constraint, (class, oid, 0), "a");
            }
        }
        for shown in ShownForeignKey::all_of(source, table) {
            let constraint = (pg_constraint::PG_CONSTRAINT.oid, shown.key.oid, 0);
            for (number, _) in shown.columns() {
                depend(rows, constraint, (class, oid, number), "a");
            }
            for (number, _) in shown.parent_columns() {
                depend(rows, constraint, (class, shown.parent.oid.0, number), "n");
            }
            depend(rows, constraint, (class, shown.key.parent_index, 0), "n");
        }
        for index in ShownIndex::all_of(table) {
            // The index of a constraint goes with that, and that with its columns.
            let of_columns = match index.constraint {
                Some(constraint) => (pg_constraint::PG_CONSTRAINT.oid, constraint, 0),
                None => (class, index.oid, 0),
            };
            for number in index.depends_on() {
                depend(rows, of_columns, (class, oid, number), "a");
            }
            if index.constraint.is_some() {
                depend(rows, (class, index.oid, 0), of_columns, "i");
            }
        }
    }
    for sequence in source.catalog.sequences() {
        let oid = (class, sequence.oid.0, 0);
        depend(rows, oid, (pg_namespace::PG_NAMESPACE.oid, sequence.schema.0, 0), "n");
        if let Some(owner) = sequence.owner {
            let number = i16::try_from(owner.column.0).unwrap_or(i16::MAX);
            depend(rows, oid, (class, owner.table.0, number), if owner.identity { "i" } else { "a" });
        }
    }
    for view in source.catalog.views() {
        depend(rows, (class, view.oid.0, 0), (pg_namespace::PG_NAMESPACE.oid, view.schema.0, 0), "n");
    }
    for (view, reads) in source.catalog.readers() {
        let (oid, rule) = ((class, view.0, 0), (pg_rewrite::PG_REWRITE.oid, view.0, 0));
        depend(rows, rule, oid, "i");
        for read in reads {
            if read.columns.is_empty() {
                depend(rows, rule, (class, read.relation.0, 0), "n");
            }
            for column in &read.columns {
                let number = i16::try_from(column.0).unwrap_or(i16::MAX);
                depend(rows, rule, (class, read.relation.0, number), "n");
            }
        }
    }
    types(source, rows);
}

/// A row's type goes with its relation, and the type of arrays with that.
fn types(source: &Source, rows: &mut Rows) {
    let (class, ty) = (pg_class::PG_CLASS.oid, pg_type::PG_TYPE.oid);
    for row in row_types(source).filter(|row| !matches!(row.relation, Relation::Computed { .. })) {
        depend(rows, (ty, row.oid, 0), (class, row.relation.oid(), 0), "i");
        depend(rows, (ty, row.array, 0), (ty, row.oid, 0), "i");
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
