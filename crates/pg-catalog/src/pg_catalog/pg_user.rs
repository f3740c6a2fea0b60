//! `pg_user` and `pg_shadow`: the session's user, the only role.

use crate::rows::Rows;
use crate::source::{OWNER, Source};

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    rows.add([
        ("usename", source.live.user().into()),
        ("usesysid", OWNER.into()),
        ("usecreatedb", false.into()),
        ("usesuper", true.into()),
        ("userepl", false.into()),
        ("usebypassrls", false.into()),
    ]);
}
