//! `pg_tablespace`: the data folder.

use crate::definition::{Definition, Kind};
use crate::rows::Rows;
use crate::source::{OWNER, Source};

/// Its oid.
pub(crate) const DEFAULT: u32 = 1663;

pub(super) static PG_TABLESPACE: Definition = Definition {
    oid: 1213,
    name: "pg_tablespace",
    kind: Kind::Table,
    columns: "oid:oid! spcname:name! spcowner:oid! spcacl:_aclitem spcoptions:_text",
    rows: Some(rows),
};

fn rows(_: &Source, rows: &mut Rows) {
    rows.add([("oid", DEFAULT.into()), ("spcname", "pg_default".into()), ("spcowner", OWNER.into())]);
}
