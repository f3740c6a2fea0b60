//! `pg_views`: user-defined views.

use crate::deparse::view_definition;
use crate::rows::Rows;
use crate::source::Source;

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    for view in source.catalog.views() {
        rows.add([
            ("schemaname", source.schema_name(view.schema.0).into()),
            ("viewname", view.name.as_str().into()),
            ("viewowner", source.live.user().into()),
            ("definition", view_definition(source, view).into()),
        ]);
    }
}
