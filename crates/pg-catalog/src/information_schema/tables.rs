//! `tables`: tables, views and computed tables.

use crate::definition::Kind;
use crate::rows::Rows;
use crate::source::{Relation, Source, is_plain};
use catalog::DATABASE_NAME;

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    for relation in source.relations() {
        let (kind, writable) = match relation {
            // Materialized views are not in the SQL standard.
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
