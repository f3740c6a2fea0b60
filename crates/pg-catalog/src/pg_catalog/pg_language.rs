//! `pg_language`: functions are built in.

use crate::definition::{Definition, Kind};
use crate::rows::Rows;
use crate::source::{OWNER, Source};

/// The language of what is built in.
pub(crate) const INTERNAL: u32 = 12;

pub(super) static PG_LANGUAGE: Definition = Definition {
    oid: 2612,
    name: "pg_language",
    kind: Kind::Table,
    columns: "oid:oid! lanname:name! lanowner:oid! lanispl:bool! lanpltrusted:bool! lanplcallfoid:oid! laninline:oid! \
    lanvalidator:oid! lanacl:_aclitem",
    rows: Some(rows),
};

fn rows(_: &Source, rows: &mut Rows) {
    rows.add([("oid", INTERNAL.into()), ("lanname", "internal".into()), ("lanowner", OWNER.into())]);
}
