//! `key_column_usage`: columns of primary keys.

use crate::definition::{Definition, Kind};
use crate::rows::Rows;
use crate::source::{Source, key_columns};
use catalog::DATABASE_NAME;

pub(super) static KEY_COLUMN_USAGE: Definition = Definition {
    oid: 13329,
    name: "key_column_usage",
    kind: Kind::View,
    columns: "constraint_catalog:name constraint_schema:name constraint_name:name table_catalog:name table_schema:name \
    table_name:name column_name:name ordinal_position:int4 position_in_unique_constraint:int4",
    rows: Some(rows),
};

fn rows(source: &Source, rows: &mut Rows) {
    for table in source.catalog.tables() {
        let Some(key) = &table.key_name else { continue };
        let schema = source.catalog.schema_name(table);
        for ((_, _, column), place) in key_columns(table).zip(1_i32..) {
            rows.add([
                ("constraint_catalog", DATABASE_NAME.into()),
                ("constraint_schema", schema.into()),
                ("constraint_name", key.as_str().into()),
                ("table_catalog", DATABASE_NAME.into()),
                ("table_schema", schema.into()),
                ("table_name", table.name.as_str().into()),
                ("column_name", column.name.as_str().into()),
                ("ordinal_position", place.into()),
            ]);
        }
    }
}
