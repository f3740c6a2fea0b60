//! `pg_rewrite`: the SELECT rule of each view. Its oid is the view's oid, which is unique per system catalog.

use crate::rows::Rows;
use crate::source::Source;

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    for (view, _) in source.catalog.readers() {
        rows.add([
            ("oid", view.0.into()),
            ("rulename", "_RETURN".into()),
            ("ev_class", view.0.into()),
            // SELECT.
            ("ev_type", "1".into()),
            ("ev_enabled", "O".into()),
            ("is_instead", true.into()),
            ("ev_qual", "<>".into()),
            // There are no query trees; pg_get_viewdef() returns the query.
            ("ev_action", "<>".into()),
        ]);
    }
}
