//! The format version of a row's JSON: the oldest one that supports the contents of the row.

use super::row::{Kind, corrupted};
use crate::{CatalogResult, Index, Table};
use serde::{Deserialize, Serialize};

/// The newest format that this build reads. Increased if older builds cannot read new rows, or must not ignore their
/// contents.
pub const FORMAT: u32 = 8;
/// The format that every build reads.
pub(super) const FORMAT_1: u32 = 1;
/// Tables with CHECK constraints: a build that ignores them would accept rows that violate them.
const FORMAT_2: u32 = 2;
/// Tables with indexes: a build that ignores them would not write entries.
const FORMAT_3: u32 = 3;
/// Tables with foreign keys: a build that ignores them would leave rows without a parent.
const FORMAT_4: u32 = 4;
/// Tables with generated columns, which a build that ignores them would not compute; and with expression, partial,
/// local or non-public indexes: such a build would write wrong entries, or read missing ones.
const FORMAT_5: u32 = 5;
/// Materialized views: a build that ignores them would let statements write their rows.
const FORMAT_6: u32 = 6;
/// Tables with refreshed indexes: a build that ignores the refresh would read stale entries.
const FORMAT_7: u32 = 7;
/// Tables with change logs, which a build that ignores them would not write, and the incremental views over them.
const FORMAT_8: u32 = 8;

#[derive(Serialize, Deserialize)]
pub(super) struct Versioned<T> {
    pub(super) format: u32,
    pub(super) value: T,
}

/// Only the format, to detect a newer one before the value is parsed.
#[derive(Deserialize)]
pub(super) struct FormatOnly {
    pub(super) format: u32,
}

/// The JSON of a row.
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

/// The JSON of a deleted row, for stores where a deleted row could reappear.
pub(crate) fn nothing() -> String {
    format!("{{\"format\":{FORMAT_1},\"value\":null}}")
}
