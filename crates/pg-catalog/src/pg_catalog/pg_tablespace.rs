//! `pg_tablespace`: the data folder as the only tablespace.

use crate::rows::Rows;
use crate::source::{OWNER, Source};

/// The oid of `pg_default`.
pub(crate) const DEFAULT: u32 = 1663;

pub(super) fn rows(_: &Source, rows: &mut Rows) {
    rows.add([("oid", DEFAULT.into()), ("spcname", "pg_default".into()), ("spcowner", OWNER.into())]);
}
