//! `pg_authid`: the session's user, the one role.

use crate::definition::{Definition, Kind};
use crate::rows::Rows;
use crate::source::{OWNER, Source};

pub(super) static PG_AUTHID: Definition = Definition {
    oid: 1260,
    name: "pg_authid",
    kind: Kind::Table,
    columns: "oid:oid! rolname:name! rolsuper:bool! rolinherit:bool! rolcreaterole:bool! rolcreatedb:bool! rolcanlogin:bool! \
    rolreplication:bool! rolbypassrls:bool! rolconnlimit:int4! rolpassword:text rolvaliduntil:timestamptz",
    rows: Some(rows),
};

fn rows(source: &Source, rows: &mut Rows) {
    rows.add([
        ("oid", OWNER.into()),
        ("rolname", source.live.user().into()),
        ("rolsuper", true.into()),
        ("rolinherit", true.into()),
        ("rolcanlogin", true.into()),
        ("rolconnlimit", (-1).into()),
    ]);
}
