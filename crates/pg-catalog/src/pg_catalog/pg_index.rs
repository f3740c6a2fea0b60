//! `pg_index`: the indexes of primary keys, and secondary indexes.

use crate::rows::Rows;
use crate::shown_index::ShownIndex;
use crate::source::Source;
use builtins::lists::default_operator_class;

/// Bits of `indoption`.
const DESCENDING: i64 = 1;
const NULLS_FIRST: i64 = 2;

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    for index in source.catalog.tables().flat_map(ShownIndex::all_of) {
        let columns: Vec<i64> = index.columns().map(|of| i64::from(of.number())).collect();
        let flag = |set: bool, flag: i64| if set { flag } else { 0 };
        let order = index.parts.iter();
        let order = order.map(|part| flag(part.descending, DESCENDING) | flag(part.nulls_first, NULLS_FIRST));
        let collation = index.parts.iter().map(|part| if part.of.ty().is_text() { 100 } else { 0 });
        let expressions: Vec<&str> = index.expressions().map(|expression| expression.shown(false)).collect();
        let expressions = (!expressions.is_empty()).then(|| expressions.join(", "));
        let classes = index.parts.iter().map(|part| default_operator_class(part.of.ty().oid()));
        let classes = classes.map(|class| class.map_or(0, |class| i64::from(class.oid)));
        rows.add([
            ("indexprs", expressions.into()),
            ("indpred", index.predicate.map(|predicate| predicate.shown(false)).into()),
            ("indexrelid", index.oid.into()),
            ("indrelid", index.table.oid.0.into()),
            ("indnatts", columns.len().into()),
            ("indnkeyatts", index.parts.len().into()),
            ("indisunique", index.unique.into()),
            ("indnullsnotdistinct", index.nulls_not_distinct.into()),
            ("indisprimary", index.primary.into()),
            ("indimmediate", (!index.deferrable.0).into()),
            // A refreshed index has the entries of all rows as of its last refresh.
            ("indisvalid", (index.state.is_public() || index.refresh.is_some()).into()),
            // A refreshed index counts as ready: pg_dump leaves others out.
            ("indisready", (index.state.takes_entries() || index.refresh.is_some()).into()),
            ("indislive", true.into()),
            ("indoption", order.collect::<Vec<i64>>().into()),
            ("indcollation", collation.collect::<Vec<i64>>().into()),
            ("indclass", classes.collect::<Vec<i64>>().into()),
            ("indkey", columns.into()),
        ]);
    }
}
