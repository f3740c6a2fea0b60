//! `pg_aggregate`: the aggregates that are built in. Their steps are parts of the planner and no functions.

use crate::definition::{Definition, Kind};
use crate::rows::Rows;
use crate::source::Source;
use builtins::lists::routines;

pub(super) static PG_AGGREGATE: Definition = Definition {
    oid: 2600,
    name: "pg_aggregate",
    kind: Kind::Table,
    columns: "aggfnoid:regproc! aggkind:char! aggnumdirectargs:int2! aggtransfn:regproc! aggfinalfn:regproc! \
    aggcombinefn:regproc! aggserialfn:regproc! aggdeserialfn:regproc! aggmtransfn:regproc! \
    aggminvtransfn:regproc! aggmfinalfn:regproc! aggfinalextra:bool! aggmfinalextra:bool! \
    aggfinalmodify:char! aggmfinalmodify:char! aggsortop:oid! aggtranstype:oid! aggtransspace:int4! \
    aggmtranstype:oid! aggmtransspace:int4! agginitval:text aggminitval:text",
    rows: Some(rows),
};

fn rows(_: &Source, rows: &mut Rows) {
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
