//! `pg_aggregate`: the aggregates that are built in. Their steps are parts of DataFusion and no functions.

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
            // Nothing is kept of a state after its result.
            ("aggfinalmodify", "r".into()),
            ("aggmfinalmodify", "r".into()),
        ]);
    }
}
