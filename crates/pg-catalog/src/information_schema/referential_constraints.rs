//! `referential_constraints`: foreign keys.

use crate::rows::Rows;
use crate::shown_foreign_key::ShownForeignKey;
use crate::source::Source;
use catalog::DATABASE_NAME;

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    for table in source.catalog.tables() {
        for shown in ShownForeignKey::all_of(source, table) {
            // A unique index without a constraint has no name in this view.
            let unique = shown.parent_index().filter(|index| index.constraint.is_some());
            let parent_schema = unique.is_some().then(|| source.catalog.schema_name(shown.parent));
            rows.add([
                ("constraint_catalog", DATABASE_NAME.into()),
                ("constraint_schema", source.catalog.schema_name(table).into()),
                ("constraint_name", shown.key.name.as_str().into()),
                ("unique_constraint_catalog", unique.is_some().then_some(DATABASE_NAME).into()),
                ("unique_constraint_schema", parent_schema.into()),
                ("unique_constraint_name", unique.map(|index| index.name).into()),
                ("match_option", if shown.key.full { "FULL" } else { "NONE" }.into()),
                ("update_rule", shown.key.on_update.words().into()),
                ("delete_rule", shown.key.on_delete.words().into()),
            ]);
        }
    }
}
