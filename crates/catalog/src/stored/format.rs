//! The format of a row's JSON, and the newest one that what is in it needs.

use super::row::{Kind, corrupted};
use crate::{CatalogResult, Index, Table};
use serde::{Deserialize, Serialize};

/// Newest format of rows that this build reads. Grows when an older build could not read them, or could not do
/// without what is in them.
pub const FORMAT: u32 = 8;
/// The format of rows that every build reads.
pub(super) const FORMAT_1: u32 = 1;
/// The format of tables with CHECK constraints: a build that passed over them would let in rows that break them.
const FORMAT_2: u32 = 2;
/// The format of tables with indexes: a build that passed over them would leave entries out.
const FORMAT_3: u32 = 3;
/// The format of tables with foreign keys: a build that passed over them would leave rows that refer to nothing.
const FORMAT_4: u32 = 4;
/// The format of tables with generated columns, whose values a build that passed over them would leave as they were, and of
/// those with indexes on expressions or of some rows only, local ones, and such as are not public: it would write wrong
/// entries, or read by entries that are not there.
const FORMAT_5: u32 = 5;
/// The format of materialized views: a build that passed over that would let rows in that are not of their queries.
const FORMAT_6: u32 = 6;
/// The format of tables with indexes that are refreshed: a build that passed over that would read old entries.
const FORMAT_7: u32 = 7;
/// The format of tables with change logs, in which a build that passed over them would note nothing, and of the views that rely
/// on them.
const FORMAT_8: u32 = 8;

#[derive(Serialize, Deserialize)]
pub(super) struct Versioned<T> {
    pub(super) format: u32,
    pub(super) value: T,
}

/// Enough to tell a newer format before its value is looked at.
#[derive(Deserialize)]
pub(super) struct FormatOnly {
    pub(super) format: u32,
}

/// A value as its row has it.
pub(crate) fn json_of<T: Serialize>(kind: Kind, id: u32, value: &T) -> CatalogResult<Vec<u8>> {
    json_in_format(FORMAT_1, kind, id, value)
}

pub(super) fn table_json(table: &Table) -> CatalogResult<Vec<u8>> {
    let format = match table {
        table if !table.change_logs.is_empty() || table.is_incremental() => FORMAT_8,
        table if table.indexes.iter().any(|index| index.refresh.is_some()) => FORMAT_7,
        table if table.materialized.is_some() => FORMAT_6,
        table if table.columns.iter().any(|column| column.generated.is_some()) => FORMAT_5,
        table if !table.indexes.iter().all(Index::is_simple) => FORMAT_5,
        table if !table.foreign_keys.is_empty() => FORMAT_4,
        table if !table.indexes.is_empty() => FORMAT_3,
        table if !table.checks.is_empty() => FORMAT_2,
        _ => FORMAT_1,
    };
    json_in_format(format, Kind::Table, table.oid.0, table)
}

fn json_in_format<T: Serialize>(format: u32, kind: Kind, id: u32, value: &T) -> CatalogResult<Vec<u8>> {
    let unwritable = |error| corrupted(format!("{kind:?} {id} to be written"), error);
    serde_json::to_vec(&Versioned { format, value }).map_err(unwritable)
}

/// What a row holds that is gone, on stores where a deleted row could come back.
pub(crate) fn nothing() -> String {
    format!("{{\"format\":{FORMAT_1},\"value\":null}}")
}
