//! `pg_cursors`: what DECLARE opened in the session's transaction. Portals of the protocol are not shown.

use crate::rows::Rows;
use crate::source::Source;

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    for cursor in source.live.cursors() {
        rows.add([
            ("name", cursor.name.into()),
            ("statement", cursor.statement.into()),
            // None outlives its transaction, answers in binary or goes backward: DECLARE refuses to.
            ("is_holdable", false.into()),
            ("is_binary", false.into()),
            ("is_scrollable", false.into()),
            ("creation_time", cursor.declared.into()),
        ]);
    }
}
