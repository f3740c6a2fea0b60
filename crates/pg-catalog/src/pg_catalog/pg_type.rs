//! `pg_type`: the types of columns, of the catalogs' own columns, and arrays of them.

use crate::definition::{Definition, Kind};
use crate::oid::types::{PgType, TYPES};
use crate::rows::Rows;
use crate::source::{OWNER, PG_CATALOG, Source};

pub(super) static PG_TYPE: Definition = Definition {
    oid: 1247,
    name: "pg_type",
    kind: Kind::Table,
    columns: "oid:oid! typname:name! typnamespace:oid! typowner:oid! typlen:int2! typbyval:bool! typtype:char! \
    typcategory:char! typispreferred:bool! typisdefined:bool! typdelim:char! typrelid:oid! typsubscript:regproc! \
    typelem:oid! typarray:oid! typinput:regproc! typoutput:regproc! typreceive:regproc! typsend:regproc! \
    typmodin:regproc! typmodout:regproc! typanalyze:regproc! typalign:char! typstorage:char! typnotnull:bool! \
    typbasetype:oid! typtypmod:int4! typndims:int4! typcollation:oid! typdefaultbin:pg_node_tree typdefault:text \
    typacl:_aclitem",
    rows: Some(rows),
};

fn rows(_: &Source, rows: &mut Rows) {
    for ty in TYPES {
        add(rows, ty);
    }
}

fn add(rows: &mut Rows, ty: &PgType) {
    let [input, output, receive, send] = ty.functions();
    rows.add([
        ("oid", ty.oid.into()),
        ("typname", ty.name.into()),
        ("typnamespace", PG_CATALOG.into()),
        ("typowner", OWNER.into()),
        ("typlen", ty.len.into()),
        ("typbyval", ty.by_value.into()),
        ("typtype", ty.kind.into()),
        ("typcategory", ty.category.into()),
        ("typispreferred", ty.preferred.into()),
        ("typisdefined", true.into()),
        ("typdelim", ",".into()),
        ("typsubscript", ty.subscripts().into()),
        ("typelem", ty.element.into()),
        ("typarray", ty.array.into()),
        ("typinput", input.into()),
        ("typoutput", output.into()),
        ("typreceive", receive.into()),
        ("typsend", send.into()),
        ("typalign", ty.align.into()),
        ("typstorage", ty.storage.into()),
        ("typtypmod", (-1).into()),
        ("typcollation", ty.collation.into()),
    ]);
}
