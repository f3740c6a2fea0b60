//! `collations` and `character_sets`: text is UTF-8, and compared by bytes.

use crate::definition::{Definition, Kind};
use crate::pg_catalog::COLLATIONS;
use crate::rows::Rows;
use crate::source::Source;

pub(super) static COLLATIONS_VIEW: Definition = Definition {
    oid: 13265,
    name: "collations",
    kind: Kind::View,
    columns: "collation_catalog:name collation_schema:name collation_name:name pad_attribute:varchar",
    rows: Some(collations),
};

pub(super) static CHARACTER_SETS: Definition = Definition {
    oid: 13250,
    name: "character_sets",
    kind: Kind::View,
    columns: "character_set_catalog:name character_set_schema:name character_set_name:name character_repertoire:name \
    form_of_use:name default_collate_catalog:name default_collate_schema:name default_collate_name:name",
    rows: Some(character_sets),
};

fn collations(_: &Source, rows: &mut Rows) {
    for (_, name, _) in COLLATIONS {
        rows.add([
            ("collation_catalog", catalog::DATABASE_NAME.into()),
            ("collation_schema", "pg_catalog".into()),
            ("collation_name", name.into()),
            ("pad_attribute", "NO PAD".into()),
        ]);
    }
}

fn character_sets(_: &Source, rows: &mut Rows) {
    rows.add([
        ("character_set_name", "UTF8".into()),
        ("character_repertoire", "UCS".into()),
        ("form_of_use", "UTF8".into()),
        ("default_collate_catalog", catalog::DATABASE_NAME.into()),
        ("default_collate_schema", "pg_catalog".into()),
        ("default_collate_name", "C".into()),
    ]);
}
