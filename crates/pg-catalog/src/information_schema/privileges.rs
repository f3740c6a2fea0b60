//! Privileges on tables and columns: the owner has all, and there are no grants.

use crate::rows::Rows;
use crate::source::{Relation, Source, is_plain, shown_columns};

pub(super) fn of_tables(source: &Source, rows: &mut Rows) {
    for relation in source.relations() {
        match relation {
            Relation::Table(table) if is_plain(table) => {}
            Relation::View(_) => {}
            _ => continue,
        }
        for privilege in ["INSERT", "SELECT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"] {
            rows.add([
                ("grantor", source.live.user().into()),
                ("grantee", source.live.user().into()),
                ("table_catalog", catalog::DATABASE_NAME.into()),
                ("table_schema", source.schema_name(relation.schema()).into()),
                ("table_name", relation.name().into()),
                ("privilege_type", privilege.into()),
                ("is_grantable", "YES".into()),
                ("with_hierarchy", if privilege == "SELECT" { "YES" } else { "NO" }.into()),
            ]);
        }
    }
}

pub(super) fn of_columns(source: &Source, rows: &mut Rows) {
    for relation in source.relations() {
        let columns: Vec<&str> = match &relation {
            Relation::Table(table) if is_plain(table) => {
                shown_columns(table).map(|(_, column)| column.name.as_str()).collect()
            }
            Relation::View(view) => view.columns.iter().map(|column| column.name.as_str()).collect(),
            _ => continue,
        };
        for column in columns {
            for privilege in ["INSERT", "SELECT", "UPDATE", "REFERENCES"] {
                rows.add([
                    ("grantor", source.live.user().into()),
                    ("grantee", source.live.user().into()),
                    ("table_catalog", catalog::DATABASE_NAME.into()),
                    ("table_schema", source.schema_name(relation.schema()).into()),
                    ("table_name", relation.name().into()),
                    ("column_name", column.into()),
                    ("privilege_type", privilege.into()),
                    ("is_grantable", "YES".into()),
                ]);
            }
        }
    }
}
