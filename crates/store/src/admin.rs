//! Tables, regions and statistics, as the store sees them.

use crate::{FamilyId, KeyRange, RegionId, StoreError, StoreResult, TableId};
use bytes::Bytes;

/// A table to be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableSpec {
    /// Never used before by this store.
    pub id: TableId,
    /// At least one family.
    pub families: Vec<FamilySpec>,
    /// Region borders, ascending: `n` splits make `n + 1` regions.
    pub splits: Vec<Bytes>,
}

/// A family of a new table. A store refuses an option that it does not support with [`StoreError::Unsupported`] and
/// never ignores it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FamilySpec {
    /// Unique in its table.
    pub id: FamilyId,
    /// How the cells of a row are stored.
    pub cells: CellLayout,
    /// Maximum number of versions of a cell, including the newest. More than 1 needs [`crate::Capabilities::history`].
    pub versions: u32,
    /// Time to live: older cells are not read any more.
    pub ttl_ms: Option<u64>,
}

impl FamilySpec {
    /// One fragment per row, the newest version only, no time to live.
    pub fn new(id: FamilyId) -> Self {
        Self { id, cells: CellLayout::Fragment, versions: 1, ttl_ms: None }
    }

    /// Checks that the family uses no option beyond [`Self::new`], for backends that support only these defaults.
    ///
    /// # Errors
    /// [`StoreError::Unsupported`], naming the option.
    pub fn check_default_options(&self) -> StoreResult<()> {
        match self {
            Self { cells: CellLayout::Columns, .. } => Err(StoreError::Unsupported { what: "a cell for each column" }),
            Self { versions: 0 | 2.., .. } => Err(StoreError::Unsupported { what: "several versions of a cell" }),
            Self { ttl_ms: Some(_), .. } => Err(StoreError::Unsupported { what: "a time to live" }),
            _ => Ok(()),
        }
    }
}

/// How the cells of a row in one family are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellLayout {
    /// All in one value, the fragment (HBase: one cell).
    Fragment,
    /// Each column in a cell of its own, under its qualifier.
    Columns,
}

/// A change to the set of tables, part of a [`crate::WriteBatch`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableChange {
    /// Creates a table.
    Create(TableSpec),
    /// Drops a table: invisible to new readers at once, its bytes are reclaimed later.
    Drop(TableId),
}

/// One region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionInfo {
    /// The id.
    pub id: RegionId,
    /// The range of rowkeys.
    pub range: KeyRange,
    /// Estimated from file metadata.
    pub size: TableSize,
    /// Rows read since the store was opened.
    pub reads: u64,
    /// Rows written since the store was opened.
    pub writes: u64,
}

/// Estimated size: counts overwritten and deleted rows until they are compacted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableSize {
    /// Rows.
    pub rows: u64,
    /// Bytes on disk and in memtables.
    pub bytes: u64,
}

/// The result of [`crate::Store::check`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Rows read, by table and family.
    pub rows: Vec<(TableId, FamilyId, u64)>,
    /// Bytes of keys and fragments read.
    pub bytes: u64,
    /// The problems found. Empty if the store is sound.
    pub problems: Vec<Problem>,
}

/// A problem found by [`crate::Store::check`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The affected family, whose row count is missing or incomplete. `None` for the store as a whole.
    pub place: Option<(TableId, FamilyId)>,
    /// A one-line description.
    pub what: String,
}

/// Statistics of the whole store since it was opened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoreStats {
    /// Name (snake case, with its unit) and value. Names are stable, because they are exported as metrics.
    pub values: Vec<(&'static str, u64)>,
}
