//! `collations` and `character_sets`: text is UTF-8, and compared by bytes.

use crate::pg_catalog::COLLATIONS;
use crate::rows::Rows;
use crate::source::Source;

pub(super) fn collations(_: &Source, rows: &mut Rows) {
    for (_, name, _) in COLLATIONS {
        rows.add([
            ("collation_catalog", catalog::DATABASE_NAME.into()),
            ("collation_schema", "pg_catalog".into()),
            ("collation_name", name.into()),
            ("pad_attribute", "NO PAD".into()),
        ]);
    }
}

pub(super) fn character_sets(_: &Source, rows: &mut Rows) {
    rows.add([
        ("character_set_name", "UTF8".into()),
        ("character_repertoire", "UCS".into()),
        ("form_of_use", "UTF8".into()),
        ("default_collate_catalog", catalog::DATABASE_NAME.into()),
        ("default_collate_schema", "pg_catalog".into()),
        ("default_collate_name", "C".into()),
    ]);
}
