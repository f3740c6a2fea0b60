//! `tables`: tables, the computed ones too.

use crate::definition::{Definition, Kind};
use crate::rows::Rows;
use crate::source::{Relation, Source, is_plain};
use catalog::DATABASE_NAME;

pub(super) static TABLES: Definition = Definition {
    oid: 13425,
    name: "tables",
    kind: Kind::View,
    columns: "table_catalog:name table_schema:name table_name:name table_type:varchar self_referencing_column_name:name \
    reference_generation:varchar user_defined_type_catalog:name user_defined_type_schema:name \
    user_defined_type_name:name is_insertable_into:varchar is_typed:varchar commit_action:varchar",
    rows: Some(rows),
};

fn rows(source: &Source, rows: &mut Rows) {
    for relation in source.relations() {
        let (kind, writable) = match relation {
            // The standard knows no materialized views.
            Relation::Table(table) if !is_plain(table) => continue,
            Relation::Table(_) => ("BASE TABLE", "YES"),
            Relation::Computed { definition, .. } if definition.kind == Kind::Table => ("BASE TABLE", "NO"),
            Relation::Computed { .. } | Relation::View(_) => ("VIEW", "NO"),
            Relation::Key(_) | Relation::Index(..) | Relation::Sequence(_) => continue,
        };
        rows.add([
            ("table_catalog", DATABASE_NAME.into()),
            ("table_schema", source.schema_name(relation.schema()).into()),
            ("table_name", relation.name().into()),
            ("table_type", kind.into()),
            ("is_insertable_into", writable.into()),
            ("is_typed", "NO".into()),
        ]);
    }
}
