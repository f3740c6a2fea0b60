//! `information_schema_catalog_name`: the one database.

use crate::definition::{Definition, Kind};
use crate::rows::Rows;
use crate::source::Source;
use catalog::DATABASE_NAME;

pub(super) static INFORMATION_SCHEMA_CATALOG_NAME: Definition = Definition {
    oid: 13227,
    name: "information_schema_catalog_name",
    kind: Kind::View,
    columns: "catalog_name:name",
    rows: Some(rows),
};

fn rows(_: &Source, rows: &mut Rows) {
    rows.add([("catalog_name", DATABASE_NAME.into())]);
}
