//! `pg_matviews`: materialized views.

use crate::deparse::materialized_definition;
use crate::rows::Rows;
use crate::source::Source;

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    for (table, view) in source.catalog.materialized_views() {
        rows.add([
            ("schemaname", source.schema_name(table.schema.0).into()),
            ("matviewname", table.name.as_str().into()),
            ("matviewowner", source.live.user().into()),
            ("hasindexes", (!table.indexes.is_empty()).into()),
            ("ispopulated", view.populated.into()),
            ("definition", materialized_definition(source, view).into()),
        ]);
    }
}
