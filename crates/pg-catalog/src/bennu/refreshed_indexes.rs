//! `bennu.refreshed_indexes`: the age of the entries of refreshed indexes, which statements do not write.

use crate::rows::{Cell, Rows};
use crate::source::Source;

const MICROS: i64 = 1_000_000;

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    for table in source.catalog.tables() {
        for index in &table.indexes {
            let Some(refresh) = &index.refresh else { continue };
            rows.add([
                ("schemaname", source.schema_name(table.schema.0).into()),
                ("tablename", table.name.as_str().into()),
                ("indexname", index.name.as_str().into()),
                ("last_refresh", refresh.refreshed.into()),
                ("refresh", refresh.every.map_or(Cell::Null, |every| Cell::Seconds(every / MICROS))),
                ("next_refresh", refresh.due().into()),
                ("job", refresh.job.map(i64::from).into()),
            ]);
        }
    }
}
