//! `pg_attrdef`: defaults of columns. `adbin` is their source text.

use crate::default_text::column_default;
use crate::rows::Rows;
use crate::source::{Source, default_oid, shown_columns};

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    for table in source.catalog.tables() {
        for (number, column) in shown_columns(table) {
            let Some(default) = column_default(source, column) else { continue };
            rows.add([
                ("oid", default_oid(table, number).into()),
                ("adrelid", table.oid.0.into()),
                ("adnum", number.into()),
                ("adbin", default.into()),
            ]);
        }
    }
}
