//! `pg_description`: comments. There is none to make; the one that every database begins with is here, or a dump would
//! take it away.

use super::pg_namespace;
use crate::definition::{Definition, Kind};
use crate::rows::Rows;
use crate::source::Source;

pub(super) static PG_DESCRIPTION: Definition = Definition {
    oid: 2609,
    name: "pg_description",
    kind: Kind::Table,
    columns: "objoid:oid! classoid:oid! objsubid:int4! description:text!",
    rows: Some(rows),
};

/// What a schema is commented with.
pub(crate) fn schema_comment(name: &str) -> Option<&'static str> {
    (name == catalog::PUBLIC_SCHEMA).then_some("standard public schema")
}

fn rows(source: &Source, rows: &mut Rows) {
    for (oid, name) in source.schemas() {
        let Some(comment) = schema_comment(name) else { continue };
        rows.add([
            ("objoid", oid.into()),
            ("classoid", pg_namespace::PG_NAMESPACE.oid.into()),
            ("description", comment.into()),
        ]);
    }
}
