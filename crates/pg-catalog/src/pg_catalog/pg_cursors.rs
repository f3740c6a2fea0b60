//! `pg_cursors`: what DECLARE opened in the session's transaction. Portals of the protocol are not shown.

use crate::definition::{Definition, Kind};
use crate::rows::Rows;
use crate::source::Source;

pub(super) static PG_CURSORS: Definition = Definition {
    oid: 12077,
    name: "pg_cursors",
    kind: Kind::View,
    columns: "name:text statement:text is_holdable:bool is_binary:bool is_scrollable:bool creation_time:timestamptz",
    rows: Some(rows),
};

fn rows(source: &Source, rows: &mut Rows) {
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
