//! `pg_collation`: text is compared by bytes, under any of these names.

use crate::definition::{Definition, Kind};
use crate::rows::Rows;
use crate::source::{OWNER, PG_CATALOG, Source};

pub(super) static PG_COLLATION: Definition = Definition {
    oid: 3456,
    name: "pg_collation",
    kind: Kind::Table,
    columns: "oid:oid! collname:name! collnamespace:oid! collowner:oid! collprovider:char! collisdeterministic:bool! \
    collencoding:int4! collcollate:text collctype:text colliculocale:text collversion:text",
    rows: Some(rows),
};

/// Oid, name and provider of each.
pub(crate) static COLLATIONS: [(u32, &str, &str); 3] = [(100, "default", "d"), (950, "C", "c"), (951, "POSIX", "c")];

fn rows(_: &Source, rows: &mut Rows) {
    for (oid, name, provider) in COLLATIONS {
        rows.add([
            ("oid", oid.into()),
            ("collname", name.into()),
            ("collnamespace", PG_CATALOG.into()),
            ("collowner", OWNER.into()),
            ("collprovider", provider.into()),
            ("collisdeterministic", true.into()),
            ("collencoding", (-1).into()),
            ("collcollate", (provider == "c").then_some(name).into()),
            ("collctype", (provider == "c").then_some(name).into()),
        ]);
    }
}
