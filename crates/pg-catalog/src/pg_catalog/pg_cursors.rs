//! `pg_cursors`: cursors of DECLARE in the session's transaction. Portals of the wire protocol are not listed.

use crate::rows::Rows;
use crate::source::Source;

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    for cursor in source.live.cursors() {
        rows.add([
            ("name", cursor.name.into()),
            ("statement", cursor.statement.into()),
            // DECLARE refuses WITH HOLD, BINARY and SCROLL.
            ("is_holdable", false.into()),
            ("is_binary", false.into()),
            ("is_scrollable", false.into()),
            ("creation_time", cursor.declared.into()),
        ]);
    }
}
