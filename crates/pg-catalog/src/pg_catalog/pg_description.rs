//! `pg_description` and `pg_shdescription`: what COMMENT ON keeps.

use super::{pg_class, pg_constraint, pg_database, pg_namespace};
use crate::definition::{Definition, Kind};
use crate::rows::Rows;
use crate::source::Source;
use catalog::{CommentTarget, DATABASE_OID};

pub(super) static PG_DESCRIPTION: Definition = Definition {
    oid: 2609,
    name: "pg_description",
    kind: Kind::Table,
    columns: "objoid:oid! classoid:oid! objsubid:int4! description:text!",
    rows: Some(rows),
};

pub(super) static PG_SHDESCRIPTION: Definition = Definition {
    oid: 2396,
    name: "pg_shdescription",
    kind: Kind::Table,
    columns: "objoid:oid! classoid:oid! description:text!",
    rows: Some(shared_rows),
};

/// The comment of an object that a catalog of that name lists; of any catalog without one.
pub(crate) fn description<'a>(source: &'a Source, of: CommentTarget, catalog: Option<&str>) -> Option<&'a str> {
    let text = source.catalog.comment(of)?;
    let class = class_of(source, of);
    catalog.is_none_or(|name| name == class.name).then_some(text)
}

/// The catalog that lists what has that oid.
fn class_of(source: &Source, of: CommentTarget) -> &'static Definition {
    if of.oid == DATABASE_OID {
        &pg_database::PG_DATABASE
    } else if source.schema_name(of.oid).is_some() {
        &pg_namespace::PG_NAMESPACE
    } else if source.relation(of.oid).is_some() {
        &pg_class::PG_CLASS
    } else {
        &pg_constraint::PG_CONSTRAINT
    }
}

fn rows(source: &Source, rows: &mut Rows) {
    for (of, text) in source.catalog.comments().filter(|(of, _)| of.oid != DATABASE_OID) {
        rows.add([
            ("objoid", of.oid.into()),
            ("classoid", class_of(source, of).oid.into()),
            ("objsubid", i64::from(of.column).into()),
            ("description", text.into()),
        ]);
    }
}

fn shared_rows(source: &Source, rows: &mut Rows) {
    let of = CommentTarget::object(DATABASE_OID);
    if let Some(text) = source.catalog.comment(of) {
        rows.add([
            ("objoid", of.oid.into()),
            ("classoid", class_of(source, of).oid.into()),
            ("description", text.into()),
        ]);
    }
}
