//! `bennu.materialized_views`: the age of materialized views, and their refresh jobs.

use crate::rows::{Cell, Rows};
use crate::source::Source;

const MICROS: i64 = 1_000_000;

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    for (table, view) in source.catalog.materialized_views() {
        rows.add([
            ("schemaname", source.schema_name(table.schema.0).into()),
            ("matviewname", table.name.as_str().into()),
            ("ispopulated", view.populated.into()),
            ("last_refresh", view.refreshed.into()),
            ("refresh", view.every.map_or(Cell::Null, |every| Cell::Seconds(every / MICROS))),
            ("next_refresh", view.refreshed.and_then(|_| view.due()).into()),
            ("job", view.job.map(i64::from).into()),
            ("incremental", view.incremental.is_some().into()),
        ]);
    }
}
