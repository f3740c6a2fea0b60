//! `pg_attrdef`: defaults of columns. `adbin` is their source text.

use crate::default_text::column_default;
use crate::definition::{Definition, Kind};
use crate::rows::Rows;
use crate::source::{Source, default_oid, shown_columns};

pub(super) static PG_ATTRDEF: Definition = Definition {
    oid: 2604,
    name: "pg_attrdef",
    kind: Kind::Table,
    columns: "oid:oid! adrelid:oid! adnum:int2! adbin:pg_node_tree!",
    rows: Some(rows),
};

fn rows(source: &Source, rows: &mut Rows) {
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
