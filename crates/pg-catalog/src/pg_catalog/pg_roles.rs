//! `pg_roles`: the session's user, the only role.

use crate::rows::Rows;
use crate::source::{OWNER, Source};

pub(super) fn rows(source: &Source, rows: &mut Rows) {
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
