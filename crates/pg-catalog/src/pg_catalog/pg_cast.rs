//! `pg_cast`: the casts that are built in. Those from and to text by a type's input and output are in no catalog.

use crate::rows::Rows;
use crate::source::Source;
use builtins::lists::casts;

pub(super) fn rows(_: &Source, rows: &mut Rows) {
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
