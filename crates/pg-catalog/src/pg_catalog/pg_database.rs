//! `pg_database`: the only database.

use super::pg_tablespace;
use crate::rows::Rows;
use crate::source::{OWNER, Source};
use catalog::{DATABASE_NAME, DATABASE_OID};

/// PostgreSQL's number of the encoding UTF8.
pub(crate) const UTF8: i32 = 6;

pub(super) fn rows(_: &Source, rows: &mut Rows) {
    rows.add([
        ("oid", DATABASE_OID.into()),
        ("datname", DATABASE_NAME.into()),
        ("datdba", OWNER.into()),
        ("encoding", UTF8.into()),
        ("datlocprovider", "c".into()),
        ("datallowconn", true.into()),
        ("datconnlimit", (-1).into()),
        ("dattablespace", pg_tablespace::DEFAULT.into()),
        // Text is compared by bytes; upper and lower case follow Unicode.
        ("datcollate", "C".into()),
        ("datctype", "C.UTF-8".into()),
    ]);
}
