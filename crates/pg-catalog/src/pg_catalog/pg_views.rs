//! `pg_views`: views of users.

use crate::definition::{Definition, Kind};
use crate::deparse::view_definition;
use crate::rows::Rows;
use crate::source::Source;

pub(super) static PG_VIEWS: Definition = Definition {
    oid: 12028,
    name: "pg_views",
    kind: Kind::View,
    columns: "schemaname:name viewname:name viewowner:name definition:text",
    rows: Some(rows),
};

fn rows(source: &Source, rows: &mut Rows) {
    for view in source.catalog.views() {
        rows.add([
            ("schemaname", source.schema_name(view.schema.0).into()),
            ("viewname", view.name.as_str().into()),
            ("viewowner", source.live.user().into()),
            ("definition", view_definition(source, view).into()),
        ]);
    }
}
