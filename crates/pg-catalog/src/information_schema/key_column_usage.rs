//! `key_column_usage`: columns of primary keys, UNIQUE constraints and foreign keys.

use crate::rows::Rows;
use crate::shown_foreign_key::ShownForeignKey;
use crate::shown_index::ShownIndex;
use crate::source::Source;
use catalog::DATABASE_NAME;

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    let indexes = source.catalog.tables().flat_map(ShownIndex::all_of);
    for index in indexes.filter(|index| index.constraint.is_some()) {
        let schema = source.catalog.schema_name(index.table);
        for (part, place) in index.parts.iter().zip(1_i32..) {
            rows.add([
                ("constraint_catalog", DATABASE_NAME.into()),
                ("constraint_schema", schema.into()),
                ("constraint_name", index.name.into()),
                ("table_catalog", DATABASE_NAME.into()),
                ("table_schema", schema.into()),
                ("table_name", index.table.name.as_str().into()),
                ("column_name", part.of.name().into()),
                ("ordinal_position", place.into()),
            ]);
        }
    }
    for table in source.catalog.tables() {
        ShownForeignKey::all_of(source, table).for_each(|shown| foreign_key(source, rows, &shown));
    }
}

fn foreign_key(source: &Source, rows: &mut Rows, shown: &ShownForeignKey<'_>) {
    let schema = source.catalog.schema_name(shown.table);
    let unique: Vec<i16> =
        shown.parent_index().map(|index| index.parts.iter().map(|part| part.of.number()).collect()).unwrap_or_default();
    for (((_, column), (parent, _)), place) in shown.columns().iter().zip(shown.parent_columns()).zip(1_i32..) {
        let in_unique = unique.iter().position(|number| *number == parent);
        rows.add([
            ("constraint_catalog", DATABASE_NAME.into()),
            ("constraint_schema", schema.into()),
            ("constraint_name", shown.key.name.as_str().into()),
            ("table_catalog", DATABASE_NAME.into()),
            ("table_schema", schema.into()),
            ("table_name", shown.table.name.as_str().into()),
            ("column_name", column.name.as_str().into()),
            ("ordinal_position", place.into()),
            ("position_in_unique_constraint", in_unique.and_then(|at| i32::try_from(at + 1).ok()).into()),
        ]);
    }
}
