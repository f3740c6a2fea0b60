//! `enabled_roles`: the session's user.

use crate::rows::Rows;
use crate::source::Source;

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    rows.add([("role_name", source.live.user().into())]);
}
