//! `pg_tablespace`: the data folder.

use crate::rows::Rows;
use crate::source::{OWNER, Source};

/// Its oid.
pub(crate) const DEFAULT: u32 = 1663;

pub(super) fn rows(_: &Source, rows: &mut Rows) {
    rows.add([("oid", DEFAULT.into()), ("spcname", "pg_default".into()), ("spcowner", OWNER.into())]);
}
