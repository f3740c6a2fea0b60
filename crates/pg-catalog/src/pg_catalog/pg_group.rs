//! `pg_group`: the one role can log in, so it is no group.

use crate::definition::{Definition, Kind};

pub(super) static PG_GROUP: Definition = Definition {
    oid: 12010,
    name: "pg_group",
    kind: Kind::View,
    columns: "groname:name grosysid:oid grolist:_oid",
    rows: None,
};
