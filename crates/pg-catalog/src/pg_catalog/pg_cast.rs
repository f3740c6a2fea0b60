//! `pg_cast`: the built-in casts, except I/O conversion casts, which PostgreSQL does not list either.

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
