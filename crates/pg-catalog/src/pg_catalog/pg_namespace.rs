//! `pg_namespace`: schemas.

use crate::rows::Rows;
use crate::source::{OWNER, Source};

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    for (oid, name) in source.schemas() {
        // The privileges of `public` that dumps expect: everyone has USAGE.
        let owner = types::ident::quote(source.live.user());
        let rights =
            (name == catalog::PUBLIC_SCHEMA).then(|| vec![format!("{owner}=UC/{owner}"), format!("=U/{owner}")]);
        rows.add([
            ("oid", oid.into()),
            ("nspname", name.into()),
            ("nspowner", OWNER.into()),
            ("nspacl", rights.into()),
        ]);
    }
}
