//! `views` and `view_table_usage`: user-defined views, and the tables that they read.

use crate::deparse::view_definition;
use crate::rows::Rows;
use crate::source::Source;
use catalog::DATABASE_NAME;

pub(super) fn views(source: &Source, rows: &mut Rows) {
    for view in source.catalog.views() {
        rows.add([
            ("table_catalog", DATABASE_NAME.into()),
            ("table_schema", source.schema_name(view.schema.0).into()),
            ("table_name", view.name.as_str().into()),
            ("view_definition", view_definition(source, view).into()),
            ("check_option", "NONE".into()),
            ("is_updatable", "NO".into()),
            ("is_insertable_into", "NO".into()),
            ("is_trigger_updatable", "NO".into()),
            ("is_trigger_deletable", "NO".into()),
            ("is_trigger_insertable_into", "NO".into()),
        ]);
    }
}

pub(super) fn usage(source: &Source, rows: &mut Rows) {
    for view in source.catalog.views() {
        for read in &view.reads {
            let Some(relation) = source.relation(read.relation.0) else { continue };
            rows.add([
                ("view_catalog", DATABASE_NAME.into()),
                ("view_schema", source.schema_name(view.schema.0).into()),
                ("view_name", view.name.as_str().into()),
                ("table_catalog", DATABASE_NAME.into()),
                ("table_schema", source.schema_name(relation.schema()).into()),
                ("table_name", relation.name().into()),
            ]);
        }
    }
}
