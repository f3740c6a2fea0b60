//! `pg_proc`: what is built in, and the functions of the embedding program.

use super::pg_language;
use crate::definition::{Definition, Kind};
use crate::rows::Rows;
use crate::source::{OWNER, PG_CATALOG, Source};
use builtins::lists::Routine;

pub(super) static PG_PROC: Definition = Definition {
    oid: 1255,
    name: "pg_proc",
    kind: Kind::Table,
    columns: "oid:oid! proname:name! pronamespace:oid! proowner:oid! prolang:oid! procost:float4! prorows:float4! \
    provariadic:oid! prosupport:regproc! prokind:char! prosecdef:bool! proleakproof:bool! proisstrict:bool! \
    proretset:bool! provolatile:char! proparallel:char! pronargs:int2! pronargdefaults:int2! prorettype:oid! \
    proargtypes:oidvector! proallargtypes:_oid proargmodes:_char proargnames:_text proargdefaults:pg_node_tree \
    protrftypes:_oid prosrc:text! probin:text prosqlbody:pg_node_tree proconfig:_text proacl:_aclitem",
    rows: Some(rows),
};

fn rows(source: &Source, rows: &mut Rows) {
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
