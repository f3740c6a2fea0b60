//! `views` and `view_table_usage`: views of users, and the tables that they read.

use crate::definition::{Definition, Kind};
use crate::deparse::view_definition;
use crate::rows::Rows;
use crate::source::Source;
use catalog::DATABASE_NAME;

pub(super) static VIEWS: Definition = Definition {
    oid: 13483,
    name: "views",
    kind: Kind::View,
    columns: "table_catalog:name table_schema:name table_name:name view_definition:varchar check_option:varchar \
    is_updatable:varchar is_insertable_into:varchar is_trigger_updatable:varchar is_trigger_deletable:varchar \
    is_trigger_insertable_into:varchar",
    rows: Some(views),
};

pub(super) static VIEW_TABLE_USAGE: Definition = Definition {
    oid: 13478,
    name: "view_table_usage",
    kind: Kind::View,
    columns: "view_catalog:name view_schema:name view_name:name table_catalog:name table_schema:name table_name:name",
    rows: Some(usage),
};

fn views(source: &Source, rows: &mut Rows) {
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

fn usage(source: &Source, rows: &mut Rows) {
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
