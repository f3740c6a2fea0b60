//! `pg_index`: the indexes of primary keys, and secondary ones.

use crate::definition::{Definition, Kind};
use crate::rows::Rows;
use crate::shown_index::ShownIndex;
use crate::source::Source;

pub(super) static PG_INDEX: Definition = Definition {
    oid: 2610,
    name: "pg_index",
    kind: Kind::Table,
    columns: "indexrelid:oid! indrelid:oid! indnatts:int2! indnkeyatts:int2! indisunique:bool! indnullsnotdistinct:bool! \
    indisprimary:bool! indisexclusion:bool! indimmediate:bool! indisclustered:bool! indisvalid:bool! \
    indcheckxmin:bool! indisready:bool! indislive:bool! indisreplident:bool! indkey:int2vector! \
    indcollation:oidvector! indclass:oidvector! indoption:int2vector! indexprs:pg_node_tree indpred:pg_node_tree",
    rows: Some(rows),
};

/// Bits of `indoption`.
const DESCENDING: i64 = 1;
const NULLS_FIRST: i64 = 2;

fn rows(source: &Source, rows: &mut Rows) {
    for index in source.catalog.tables().flat_map(ShownIndex::all_of) {
        let columns: Vec<i64> = index.columns().map(|of| i64::from(of.number())).collect();
        let flag = |set: bool, flag: i64| if set { flag } else { 0 };
        let order = index.parts.iter();
        let order = order.map(|part| flag(part.descending, DESCENDING) | flag(part.nulls_first, NULLS_FIRST));
        let collation = index.parts.iter().map(|part| if part.of.ty().is_text() { 100 } else { 0 });
        let expressions: Vec<&str> = index.expressions().map(|expression| expression.shown(false)).collect();
        let expressions = (!expressions.is_empty()).then(|| expressions.join(", "));
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
            // One that is refreshed is whole, if not of this moment.
            ("indisvalid", (index.state.is_public() || index.refresh.is_some()).into()),
            ("indisready", index.state.takes_entries().into()),
            ("indislive", true.into()),
            ("indoption", order.collect::<Vec<i64>>().into()),
            ("indcollation", collation.collect::<Vec<i64>>().into()),
            ("indkey", columns.into()),
        ]);
    }
}
