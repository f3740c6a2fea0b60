//! `pg_aggregate`: the built-in aggregates. DataFusion implements their transition steps, so there are no functions for
//! them.

use crate::rows::Rows;
use crate::source::Source;
use builtins::lists::routines;

pub(super) fn rows(_: &Source, rows: &mut Rows) {
    for aggregate in routines().iter().filter(|routine| routine.kind == 'a') {
        let (kind, direct) = aggregate.aggregate;
        rows.add([
            ("aggfnoid", aggregate.oid.into()),
            ("aggkind", kind.into()),
            ("aggnumdirectargs", direct.into()),
            // READ_ONLY: the final function does not modify the transition state.
            ("aggfinalmodify", "r".into()),
            ("aggmfinalmodify", "r".into()),
        ]);
    }
}
