//! `pg_operator`: the built-in operators. DataFusion implements them, so they have no functions.

use crate::rows::Rows;
use crate::source::{OWNER, PG_CATALOG, Source};
use builtins::lists::operators;

pub(super) fn rows(_: &Source, rows: &mut Rows) {
    for operator in operators() {
        rows.add([
            ("oid", operator.oid.into()),
            ("oprname", operator.name.into()),
            ("oprnamespace", PG_CATALOG.into()),
            ("oprowner", OWNER.into()),
            ("oprkind", operator.kind.into()),
            ("oprcanmerge", operator.merges.into()),
            ("oprcanhash", operator.hashes.into()),
            ("oprleft", operator.left.into()),
            ("oprright", operator.right.into()),
            ("oprresult", operator.result.into()),
            ("oprcom", operator.commutator.into()),
            ("oprnegate", operator.negator.into()),
        ]);
    }
}
