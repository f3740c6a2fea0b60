//! `pg_shadow`: the session's user, the one role.

use crate::definition::{Definition, Kind};
use crate::rows::Rows;
use crate::source::{OWNER, Source};

pub(super) static PG_SHADOW: Definition = Definition {
    oid: 12005,
    name: "pg_shadow",
    kind: Kind::View,
    columns: "usename:name usesysid:oid usecreatedb:bool usesuper:bool userepl:bool usebypassrls:bool passwd:text \
    valuntil:timestamptz useconfig:_text",
    rows: Some(rows),
};

fn rows(source: &Source, rows: &mut Rows) {
    rows.add([
        ("usename", source.live.user().into()),
        ("usesysid", OWNER.into()),
        ("usecreatedb", false.into()),
        ("usesuper", true.into()),
        ("userepl", false.into()),
        ("usebypassrls", false.into()),
    ]);
}
