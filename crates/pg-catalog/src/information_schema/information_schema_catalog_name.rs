//! `information_schema_catalog_name`: the only database.

use crate::rows::Rows;
use crate::source::Source;
use catalog::DATABASE_NAME;

pub(super) fn rows(_: &Source, rows: &mut Rows) {
    rows.add([("catalog_name", DATABASE_NAME.into())]);
}
