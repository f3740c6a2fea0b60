//! `pg_indexes`: the indexes of primary keys with their definitions.

use crate::definition::{Definition, Kind};
use crate::deparse::index_definition;
use crate::rows::Rows;
use crate::source::Source;

pub(super) static PG_INDEXES: Definition = Definition {
    oid: 12043,
    name: "pg_indexes",
    kind: Kind::View,
    columns: "schemaname:name tablename:name indexname:name tablespace:name indexdef:text",
    rows: Some(rows),
};

fn rows(source: &Source, rows: &mut Rows) {
    for table in source.catalog.tables() {
        let Some(index) = &table.key_name else { continue };
        rows.add([
            ("schemaname", source.catalog.schema_name(table).into()),
            ("tablename", table.name.as_str().into()),
            ("indexname", index.as_str().into()),
            ("indexdef", index_definition(source, table, true).into()),
        ]);
    }
}
