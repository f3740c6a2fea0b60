//! `pg_roles`: the session's user, the one role.

use crate::definition::{Definition, Kind};
use crate::rows::Rows;
use crate::source::{OWNER, Source};

pub(super) static PG_ROLES: Definition = Definition {
    oid: 12000,
    name: "pg_roles",
    kind: Kind::View,
    columns: "rolname:name rolsuper:bool rolinherit:bool rolcreaterole:bool rolcreatedb:bool rolcanlogin:bool \
    rolreplication:bool rolconnlimit:int4 rolpassword:text rolvaliduntil:timestamptz rolbypassrls:bool \
    rolconfig:_text oid:oid",
    rows: Some(rows),
};

fn rows(source: &Source, rows: &mut Rows) {
    rows.add([
        ("rolname", source.live.user().into()),
        ("rolsuper", true.into()),
        ("rolinherit", true.into()),
        ("rolcreaterole", false.into()),
        ("rolcreatedb", false.into()),
        ("rolcanlogin", true.into()),
        ("rolreplication", false.into()),
        ("rolconnlimit", (-1).into()),
        ("rolpassword", "********".into()),
        ("rolbypassrls", false.into()),
        ("oid", OWNER.into()),
    ]);
}
