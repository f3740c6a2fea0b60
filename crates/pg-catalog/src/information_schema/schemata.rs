//! `schemata`: schemas.

use crate::definition::{Definition, Kind};
use crate::rows::Rows;
use crate::source::Source;
use catalog::DATABASE_NAME;

pub(super) static SCHEMATA: Definition = Definition {
    oid: 13382,
    name: "schemata",
    kind: Kind::View,
    columns: "catalog_name:name schema_name:name schema_owner:name default_character_set_catalog:name \
    default_character_set_schema:name default_character_set_name:name sql_path:varchar",
    rows: Some(rows),
};

fn rows(source: &Source, rows: &mut Rows) {
    for (_, name) in source.schemas() {
        rows.add([
            ("catalog_name", DATABASE_NAME.into()),
            ("schema_name", name.into()),
            ("schema_owner", source.live.user().into()),
        ]);
    }
}
