//! `pg_index`: the indexes of primary keys.

use crate::definition::{Definition, Kind};
use crate::rows::Rows;
use crate::source::{Source, key_columns};

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
    for table in source.catalog.tables() {
        let Some(index) = table.key_oid else { continue };
        let columns: Vec<i64> = key_columns(table).map(|(number, _, _)| i64::from(number)).collect();
        let flag = |set: bool, flag: i64| if set { flag } else { 0 };
        let order = key_columns(table)
            .map(|(_, part, _)| flag(part.descending, DESCENDING) | flag(part.nulls_first, NULLS_FIRST));
        let collation = key_columns(table).map(|(_, _, column)| if column.ty.is_text() { 100 } else { 0 });
        rows.add([
            ("indexrelid", index.into()),
            ("indrelid", table.oid.0.into()),
            ("indnatts", columns.len().into()),
            ("indnkeyatts", columns.len().into()),
            ("indisunique", true.into()),
            ("indisprimary", true.into()),
            ("indimmediate", true.into()),
            ("indisvalid", true.into()),
            ("indisready", true.into()),
            ("indislive", true.into()),
            ("indoption", order.collect::<Vec<i64>>().into()),
            ("indcollation", collation.collect::<Vec<i64>>().into()),
            ("indkey", columns.into()),
        ]);
    }
}
