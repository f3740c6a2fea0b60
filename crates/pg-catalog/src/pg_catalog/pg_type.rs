//! `pg_type`: column types, types of system catalog columns, row types, and array types.

use crate::oid::row_types;
use crate::rows::Rows;
use crate::source::{OWNER, PG_CATALOG, Source};
use builtins::lists::{ARRAY_OF_ROWS, PgType, ROW, pg_types};

/// The properties that differ between types of one kind.
struct Named<'a> {
    oid: u32,
    name: &'a str,
    schema: u32,
    relation: u32,
    element: u32,
    array: u32,
}

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    for ty in pg_types() {
        let named =
            Named { oid: ty.oid, name: ty.name, schema: PG_CATALOG, relation: 0, element: ty.element, array: ty.array };
        add(rows, ty, &named);
    }
    for ty in row_types(source) {
        let (relation, schema) = (ty.relation.oid(), ty.relation.schema());
        let row = Named { oid: ty.oid, name: ty.relation.name(), schema, relation, element: 0, array: ty.array };
        add(rows, &ROW, &row);
        let name = ty.array_name.as_str();
        add(rows, &ARRAY_OF_ROWS, &Named { oid: ty.array, name, schema, relation: 0, element: ty.oid, array: 0 });
    }
}

fn add(rows: &mut Rows, ty: &PgType, named: &Named<'_>) {
    let [input, output, receive, send] = ty.functions();
    rows.add([
        ("oid", named.oid.into()),
        ("typname", named.name.into()),
        ("typnamespace", named.schema.into()),
        ("typowner", OWNER.into()),
        ("typlen", ty.len.into()),
        ("typbyval", ty.by_value.into()),
        ("typtype", ty.kind.into()),
        ("typcategory", ty.category.into()),
        ("typispreferred", ty.preferred.into()),
        ("typisdefined", true.into()),
        ("typdelim", ",".into()),
        ("typrelid", named.relation.into()),
        ("typsubscript", ty.subscripts().into()),
        ("typelem", named.element.into()),
        ("typarray", named.array.into()),
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
