//! `pg_am`: access methods of tables and indexes.

use crate::rows::Rows;
use crate::source::Source;

/// The only table access method, named `heap` because dumps set it.
pub(crate) const TABLE: u32 = 2;
/// The only index access method, named `btree`.
pub(crate) const INDEX: u32 = 403;

pub(super) fn rows(_: &Source, rows: &mut Rows) {
    rows.add([("oid", TABLE.into()), ("amname", "heap".into()), ("amtype", "t".into())]);
    rows.add([("oid", INDEX.into()), ("amname", "btree".into()), ("amtype", "i".into())]);
}
