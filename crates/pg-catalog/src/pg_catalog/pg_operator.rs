//! `pg_operator`: the operators that are built in. They are parts of the planner, so no function stands behind them.

use crate::definition::{Definition, Kind};
use crate::rows::Rows;
use crate::source::{OWNER, PG_CATALOG, Source};
use builtins::lists::operators;

pub(super) static PG_OPERATOR: Definition = Definition {
    oid: 2617,
    name: "pg_operator",
    kind: Kind::Table,
    columns: "oid:oid! oprname:name! oprnamespace:oid! oprowner:oid! oprkind:char! oprcanmerge:bool! oprcanhash:bool! \
    oprleft:oid! oprright:oid! oprresult:oid! oprcom:oid! oprnegate:oid! oprcode:regproc! oprrest:regproc! \
    oprjoin:regproc!",
    rows: Some(rows),
};

fn rows(_: &Source, rows: &mut Rows) {
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
