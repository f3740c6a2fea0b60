//! `pg_tables`: tables with their schemas, including computed tables.

use crate::definition::Kind;
use crate::rows::Rows;
use crate::shown_index::ShownIndex;
use crate::source::{Relation, Source, is_plain};

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    for relation in source.relations() {
        let has_index = match relation {
            Relation::Table(table) if is_plain(table) => ShownIndex::all_of(table).next().is_some(),
            Relation::Computed { definition, .. } if definition.kind == Kind::Table => false,
            _ => continue,
        };
        rows.add([
            ("schemaname", source.schema_name(relation.schema()).into()),
            ("tablename", relation.name().into()),
            ("tableowner", source.live.user().into()),
            ("hasindexes", has_index.into()),
            ("hasrules", false.into()),
            ("hastriggers", false.into()),
            ("rowsecurity", false.into()),
        ]);
    }
}
