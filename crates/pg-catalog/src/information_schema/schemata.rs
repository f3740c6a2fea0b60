//! `schemata`: schemas.

use crate::rows::Rows;
use crate::source::Source;
use catalog::DATABASE_NAME;

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    for (_, name) in source.schemas() {
        rows.add([
            ("catalog_name", DATABASE_NAME.into()),
            ("schema_name", name.into()),
            ("schema_owner", source.live.user().into()),
        ]);
    }
}
