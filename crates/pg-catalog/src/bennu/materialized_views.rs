//! `bennu.materialized_views`: how old materialized views are, and who refreshes them.

use crate::definition::{Definition, Kind};
use crate::rows::{Cell, Rows};
use crate::source::Source;

pub(super) static MATERIALIZED_VIEWS: Definition = Definition {
    oid: 15003,
    name: "materialized_views",
    kind: Kind::View,
    columns: "schemaname:name! matviewname:name! ispopulated:bool! last_refresh:timestamptz refresh:interval \
    next_refresh:timestamptz job:int8 incremental:bool!",
    rows: Some(rows),
};

const MICROS: i64 = 1_000_000;

fn rows(source: &Source, rows: &mut Rows) {
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
