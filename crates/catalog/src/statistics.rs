//! Results of ANALYZE: row counts, column values, and guideposts.
//!
//! ```text
//!   ANALYZE ──> TableStatistics ──row of the system table, under the oid of the table──> loaded at the start
//!                    └──> Live, shared by all versions of the table's definition ──> access path choice, pg_stats
//! ```
//! Statistics are not part of a catalog version, because a plan made before them stays correct. They survive a rename
//! or ALTER of the table and are dropped with it. A column is identified by its id and type, and an index by its oid:
//! entries that no longer match are ignored. Statistics that this build cannot read are ignored as well.

use crate::stored::{FAMILY, Kind, fragment_of, json_of};
use crate::{CatalogResult, Column, ColumnId, Index, SYSTEM_TABLE, Table, TableOid, stored_datum};
use arc_swap::ArcSwapOption;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use store::{Durability, Mutation, Store, WriteBatch};
use types::{DataType, Datum};

/// The statistics of one table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TableStatistics {
    /// The sampled storage. If the table has another one, it has been truncated or rewritten since.
    pub storage: u32,
    /// Number of rows.
    pub rows: f64,
    /// The store's estimate at that time.
    pub estimate: Size,
    /// Number of rows sampled.
    pub sampled: u64,
    /// By column id.
    pub columns: Vec<ColumnStatistics>,
    /// By oid.
    pub indexes: Vec<IndexStatistics>,
    /// In key order.
    pub guideposts: Vec<Guidepost>,
    /// When ANALYZE last ran as a statement, in microseconds since 1970.
    pub analyzed: Option<i64>,
    /// When automatic ANALYZE last ran.
    pub auto_analyzed: Option<i64>,
    /// Number of ANALYZE statements.
    pub analyzes: u64,
    /// Number of automatic runs.
    pub auto_analyzes: u64,
}

/// Number of rows and bytes, as estimated by a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// Rows.
    pub rows: u64,
    /// Bytes.
    pub bytes: u64,
}

/// A column of a table, or of the entries of an index.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnStatistics {
    /// Its id.
    pub column: ColumnId,
    /// The type of its values.
    pub ty: DataType,
    /// Its values.
    pub values: ValueStatistics,
}

/// An index: the number of entries, and the values of its expressions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IndexStatistics {
    /// Its oid.
    pub oid: u32,
    /// The sampled storage.
    pub storage: u32,
    /// Number of entries.
    pub rows: f64,
    /// The store's estimate at that time.
    pub estimate: Size,
    /// The expression parts, by the ids of their columns in the entries.
    pub expressions: Vec<ColumnStatistics>,
}

/// The values of a column, as in PostgreSQL's `pg_statistic`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ValueStatistics {
    /// Fraction of NULLs.
    pub null_fraction: f64,
    /// Average size of a non-null value in bytes.
    pub width: u32,
    /// Number of distinct values, as in `stadistinct`: if negative, a fraction of the rows, for columns whose number of
    /// distinct values grows with the table. 0: unknown.
    pub distinct: f64,
    /// The most common values, by descending frequency.
    pub common: Vec<CommonValue>,
    /// Equi-depth histogram bounds of all other values, ascending.
    pub bounds: Vec<Value>,
    /// Correlation between the order of the values and the order of the rows by key: from -1 to 1.
    pub correlation: Option<f64>,
}

/// A common value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommonValue {
    /// The value.
    pub value: Value,
    /// Its fraction of all rows.
    pub share: f64,
}

/// A value that is serialized exactly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Value(#[serde(with = "stored_datum")] pub Datum);

/// A split point within a region, as in Phoenix: the key range from the previous guidepost, or the start of the region,
/// to this key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guidepost {
    /// The region, numbered from 0 in key order.
    pub region: u32,
    /// The first key after the range; `None`: the end of the table.
    pub key: Option<Vec<u8>>,
    /// Rows and bytes of the range.
    pub size: Size,
}

impl TableStatistics {
    /// The values of a column, if its type has not changed.
    pub fn column(&self, column: &Column) -> Option<&ValueStatistics> {
        self.columns.iter().find(|it| it.column == column.id && it.ty == column.ty).map(|it| &it.values)
    }

    /// The entries of an index.
    pub fn index(&self, index: &Index) -> Option<&IndexStatistics> {
        self.indexes.iter().find(|it| it.oid == index.oid && it.storage == index.storage)
    }

    /// The estimated rows of a table now that the store's estimate is `now`; `None` if the storage was not sampled.
    pub fn rows_now(&self, storage: u32, now: u64) -> Option<f64> {
        (self.storage == storage).then(|| scaled(self.rows, self.estimate, now))
    }
}

impl IndexStatistics {
    /// The values of an expression, by its column in the entries.
    pub fn expression(&self, entry: &Column) -> Option<&ValueStatistics> {
        self.expressions.iter().find(|it| it.column == entry.id && it.ty == entry.ty).map(|it| &it.values)
    }

    /// As [`TableStatistics::rows_now`].
    pub fn rows_now(&self, now: u64) -> f64 {
        scaled(self.rows, self.estimate, now)
    }
}

/// Scales the row count by the growth of the store's estimate.
fn scaled(rows: f64, then: Size, now: u64) -> f64 {
    match then.rows {
        0 => now as f64,
        then => rows * now as f64 / then as f64,
    }
}

impl ValueStatistics {
    /// The estimated number of distinct values among `rows` rows.
    pub fn distinct_of(&self, rows: f64) -> Option<f64> {
        match self.distinct {
            known if known > 0.0 => Some(known.min(rows.max(1.0))),
            share if share < 0.0 => Some((-share * rows).max(1.0)),
            _ => None,
        }
    }
}

/// Statistics and change counters of a table. All versions of the definition share them; a new table has its own.
#[derive(Clone, Debug, Default)]
pub struct Live(Arc<LiveParts>);

#[derive(Debug, Default)]
struct LiveParts {
    statistics: ArcSwapOption<TableStatistics>,
    inserted: AtomicU64,
    updated: AtomicU64,
    deleted: AtomicU64,
    /// Total number of changes when the statistics were computed.
    at_analyze: AtomicU64,
}

/// Numbers of rows that statements have changed since the store was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Inserted rows.
    pub inserted: u64,
    /// Updated rows.
    pub updated: u64,
    /// Deleted rows.
    pub deleted: u64,
    /// All changes since the last ANALYZE.
    pub since_analyze: u64,
}

impl Live {
    /// The newest statistics.
    pub fn statistics(&self) -> Option<Arc<TableStatistics>> {
        self.0.statistics.load_full()
    }

    /// Counts changed rows.
    pub fn count(&self, inserted: u64, updated: u64, deleted: u64) {
        for (counter, more) in [(&self.0.inserted, inserted), (&self.0.updated, updated), (&self.0.deleted, deleted)] {
            if more > 0 {
                counter.fetch_add(more, Ordering::Relaxed);
            }
        }
    }

    /// The counters.
    pub fn changes(&self) -> Changes {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (inserted, updated, deleted) = (read(&self.0.inserted), read(&self.0.updated), read(&self.0.deleted));
        let since_analyze = (inserted + updated + deleted).saturating_sub(read(&self.0.at_analyze));
        Changes { inserted, updated, deleted, since_analyze }
    }

    /// The total number of changes, for `set`.
    pub fn changed(&self) -> u64 {
        let changes = self.changes();
        changes.inserted + changes.updated + changes.deleted
    }

    /// Sets new statistics. `changed` is the value of [`Self::changed`] when the rows were sampled.
    pub(crate) fn set(&self, statistics: TableStatistics, changed: u64) {
        self.0.at_analyze.store(changed, Ordering::Relaxed);
        self.0.statistics.store(Some(Arc::new(statistics)));
    }
}

/// Replaces the statistics of a table.
pub(crate) async fn write(store: &dyn Store, table: TableOid, statistics: &TableStatistics) -> CatalogResult<()> {
    let fragment = fragment_of(&json_of(Kind::Statistics, table.0, statistics)?)?;
    let key = Kind::Statistics.key(table.0);
    let change = Mutation::Replace { table: SYSTEM_TABLE, family: FAMILY, key, fragment };
    let batch = WriteBatch { mutations: vec![change], ..WriteBatch::default() };
    let commit = store.apply(batch, Durability::Sync).await?;
    store.sync(commit).await?;
    Ok(())
}

impl Table {
    /// The results of the last ANALYZE.
    pub fn statistics(&self) -> Option<Arc<TableStatistics>> {
        self.live.statistics()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn of_integers() -> TableStatistics {
        let values = ValueStatistics {
            distinct: -0.5,
            common: vec![CommonValue { value: Value(Datum::Float8(f64::NAN)), share: 0.25 }],
            bounds: vec![Value(Datum::Int4(1)), Value(Datum::Int4(9))],
            ..ValueStatistics::default()
        };
        let column = ColumnStatistics { column: ColumnId(2), ty: DataType::Integer, values };
        let estimate = Size { rows: 120, bytes: 4_000 };
        TableStatistics { storage: 16, rows: 100.0, estimate, columns: vec![column], ..TableStatistics::default() }
    }

    #[test]
    fn statistics_are_read_back_as_they_were() {
        let json = serde_json::to_vec(&of_integers()).unwrap();
        let back: TableStatistics = serde_json::from_slice(&json).unwrap();
        // NaN is not equal to itself.
        assert_eq!(format!("{back:?}"), format!("{:?}", of_integers()));
    }

    #[test]
    fn rows_grow_with_the_estimate_of_the_store_and_are_unknown_after_truncate() {
        let found = of_integers();
        assert_eq!(found.rows_now(16, 240), Some(200.0));
        assert_eq!(found.rows_now(17, 240), None);
        assert_eq!(TableStatistics { storage: 3, ..TableStatistics::default() }.rows_now(3, 7), Some(7.0));
    }

    #[test]
    fn changes_are_counted_from_the_last_statistics_on() {
        let live = Live::default();
        live.count(3, 2, 1);
        let seen = live.changed();
        live.count(0, 0, 5);
        live.clone().set(of_integers(), seen);
        assert_eq!(live.changes(), Changes { inserted: 3, updated: 2, deleted: 6, since_analyze: 5 });
        assert_eq!(live.statistics().unwrap().rows, 100.0);
    }
}
