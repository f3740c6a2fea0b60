//! `pg_proc`: the built-in functions, and the functions of the embedding program.

use super::pg_language;
use crate::rows::Rows;
use crate::source::{OWNER, PG_CATALOG, Source};
use builtins::lists::Routine;

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    source.routines().for_each(|routine| add(rows, &routine));
}

fn add(rows: &mut Rows, routine: &Routine) {
    let arguments: Vec<i64> = routine.arguments.iter().map(|ty| i64::from(*ty)).collect();
    rows.add([
        ("oid", routine.oid.into()),
        ("proname", routine.name.as_str().into()),
        ("pronamespace", PG_CATALOG.into()),
        ("proowner", OWNER.into()),
        ("prolang", pg_language::INTERNAL.into()),
        ("procost", 1.0.into()),
        ("prorows", if routine.returns_set { 1000.0 } else { 0.0 }.into()),
        ("provariadic", routine.variadic.into()),
        ("prokind", routine.kind.into()),
        ("proisstrict", routine.strict.into()),
        ("proretset", routine.returns_set.into()),
        ("provolatile", routine.volatility.into()),
        ("proparallel", routine.parallel.into()),
        ("pronargs", arguments.len().into()),
        ("pronargdefaults", routine.defaults.into()),
        ("prorettype", routine.result.into()),
        ("proargtypes", arguments.into()),
        ("prosrc", routine.name.as_str().into()),
    ]);
}
