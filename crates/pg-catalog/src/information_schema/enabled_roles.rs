//! `enabled_roles`: the session's user.

use crate::definition::{Definition, Kind};
use crate::rows::Rows;
use crate::source::Source;

pub(super) static ENABLED_ROLES: Definition =
    Definition { oid: 13325, name: "enabled_roles", kind: Kind::View, columns: "role_name:name", rows: Some(rows) };

fn rows(source: &Source, rows: &mut Rows) {
    rows.add([("role_name", source.live.user().into())]);
}
