//! `pg_description` and `pg_shdescription`: comments of COMMENT ON.

use crate::oid::{PG_CLASS, PG_CONSTRAINT, PG_DATABASE, PG_NAMESPACE};
use crate::rows::Rows;
use crate::source::Source;
use catalog::{CommentTarget, DATABASE_OID};

/// The comment of an object in the system catalog named `catalog`, or in any if `None`.
pub(crate) fn description<'a>(source: &'a Source, of: CommentTarget, catalog: Option<&str>) -> Option<&'a str> {
    let text = source.catalog.comment(of)?;
    let class = class_of(source, of);
    let is_class = |name| super::TABLES.iter().any(|table| table.oid == class && table.name == name);
    catalog.is_none_or(is_class).then_some(text)
}

/// The oid of the system catalog that has the object.
fn class_of(source: &Source, of: CommentTarget) -> u32 {
    if of.oid == DATABASE_OID {
        PG_DATABASE
    } else if source.schema_name(of.oid).is_some() {
        PG_NAMESPACE
    } else if source.relation(of.oid).is_some() {
        PG_CLASS
    } else {
        PG_CONSTRAINT
    }
}

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    for (of, text) in source.catalog.comments().filter(|(of, _)| of.oid != DATABASE_OID) {
        rows.add([
            ("objoid", of.oid.into()),
            ("classoid", class_of(source, of).into()),
            ("objsubid", i64::from(of.column).into()),
            ("description", text.into()),
        ]);
    }
}

pub(super) fn shared_rows(source: &Source, rows: &mut Rows) {
    let of = CommentTarget::object(DATABASE_OID);
    if let Some(text) = source.catalog.comment(of) {
        rows.add([("objoid", of.oid.into()), ("classoid", class_of(source, of).into()), ("description", text.into())]);
    }
}
