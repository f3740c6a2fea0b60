//! `pg_cast`: the casts that are built in. Those from and to text by a type's input and output are in no catalog.

use crate::definition::{Definition, Kind};
use crate::rows::Rows;
use crate::source::Source;
use builtins::lists::casts;

pub(super) static PG_CAST: Definition = Definition {
    oid: 2605,
    name: "pg_cast",
    kind: Kind::Table,
    columns: "oid:oid! castsource:oid! casttarget:oid! castfunc:oid! castcontext:char! castmethod:char!",
    rows: Some(rows),
};

fn rows(_: &Source, rows: &mut Rows) {
    for cast in casts() {
        rows.add([
            ("oid", cast.oid.into()),
            ("castsource", cast.source.into()),
            ("casttarget", cast.target.into()),
            ("castfunc", cast.function.into()),
            ("castcontext", cast.context.into()),
            ("castmethod", cast.method.into()),
        ]);
    }
}
