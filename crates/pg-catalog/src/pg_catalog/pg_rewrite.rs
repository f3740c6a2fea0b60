//! `pg_rewrite`: the rule of each view that says what it shows. It has the oid of its view, which is in another table.

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
            // pg_get_viewdef() shows the query; there are no trees of it.
            ("ev_action", "<>".into()),
        ]);
    }
}
