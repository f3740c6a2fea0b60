//! `pg_authid`: the session's user, the only role.

use crate::rows::Rows;
use crate::source::{OWNER, Source};

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    rows.add([
        ("oid", OWNER.into()),
        ("rolname", source.live.user().into()),
        ("rolsuper", true.into()),
        ("rolinherit", true.into()),
        ("rolcanlogin", true.into()),
        ("rolconnlimit", (-1).into()),
    ]);
}
