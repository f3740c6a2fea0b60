//! `pg_indexes`: indexes with their definitions.

use crate::deparse::index_definition;
use crate::rows::Rows;
use crate::shown_index::ShownIndex;
use crate::source::Source;

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    for index in source.catalog.tables().flat_map(ShownIndex::all_of) {
        rows.add([
            ("schemaname", source.catalog.schema_name(index.table).into()),
            ("tablename", index.table.name.as_str().into()),
            ("indexname", index.name.into()),
            ("indexdef", index_definition(source, &index, true, false).into()),
        ]);
    }
}
