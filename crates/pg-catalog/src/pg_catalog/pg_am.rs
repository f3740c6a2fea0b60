//! `pg_am`: how tables and keys are kept.

use crate::rows::Rows;
use crate::source::Source;

/// The one way that tables are kept: by the name that clients know such a way by, since dumps set it.
pub(crate) const TABLE: u32 = 2;
/// What clients know an ordered index as.
pub(crate) const INDEX: u32 = 403;

pub(super) fn rows(_: &Source, rows: &mut Rows) {
    rows.add([("oid", TABLE.into()), ("amname", "heap".into()), ("amtype", "t".into())]);
    rows.add([("oid", INDEX.into()), ("amname", "btree".into()), ("amtype", "i".into())]);
}
