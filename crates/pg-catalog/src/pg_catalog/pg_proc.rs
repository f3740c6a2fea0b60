//! `pg_proc`: the functions of this crate. Those of the planner are not listed yet.

use super::pg_language;
use crate::definition::{Definition, Kind};
use crate::functions::{ALL, oid_of};
use crate::rows::Rows;
use crate::source::{OWNER, PG_CATALOG, Source};

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

fn rows(_: &Source, rows: &mut Rows) {
    for function in ALL {
        let arguments: Vec<i64> = function.arguments.iter().map(|ty| i64::from(*ty)).collect();
        rows.add([
            ("oid", oid_of(function).into()),
            ("proname", function.name.into()),
            ("pronamespace", PG_CATALOG.into()),
            ("proowner", OWNER.into()),
            ("prolang", pg_language::INTERNAL.into()),
            ("procost", 1.0.into()),
            ("prokind", "f".into()),
            ("provolatile", if function.acts { "v" } else { "s" }.into()),
            ("proparallel", "s".into()),
            ("pronargs", arguments.len().into()),
            ("pronargdefaults", function.optional.into()),
            ("prorettype", function.returns.oid().into()),
            ("proargtypes", arguments.into()),
            ("prosrc", function.name.into()),
        ]);
    }
}
