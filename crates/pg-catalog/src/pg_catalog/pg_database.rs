//! `pg_database`: the one database.

use super::pg_tablespace;
use crate::definition::{Definition, Kind};
use crate::rows::Rows;
use crate::source::{OWNER, Source};
use catalog::{DATABASE_NAME, DATABASE_OID};

/// PostgreSQL's number of UTF8.
pub(crate) const UTF8: i32 = 6;

pub(super) static PG_DATABASE: Definition = Definition {
    oid: 1262,
    name: "pg_database",
    kind: Kind::Table,
    columns: "oid:oid! datname:name! datdba:oid! encoding:int4! datlocprovider:char! datistemplate:bool! datallowconn:bool! \
    datconnlimit:int4! datfrozenxid:xid! datminmxid:xid! dattablespace:oid! datcollate:text! datctype:text! \
    daticulocale:text datcollversion:text datacl:_aclitem",
    rows: Some(rows),
};

fn rows(_: &Source, rows: &mut Rows) {
    rows.add([
        ("oid", DATABASE_OID.into()),
        ("datname", DATABASE_NAME.into()),
        ("datdba", OWNER.into()),
        ("encoding", UTF8.into()),
        ("datlocprovider", "c".into()),
        ("datallowconn", true.into()),
        ("datconnlimit", (-1).into()),
        ("dattablespace", pg_tablespace::DEFAULT.into()),
        // Text is compared by bytes, and letters have cases in all of Unicode.
        ("datcollate", "C".into()),
        ("datctype", "C.UTF-8".into()),
    ]);
}
