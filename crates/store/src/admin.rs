//! Tables, regions and figures, as the store sees them.

use crate::{FamilyId, KeyRange, RegionId, StoreError, StoreResult, TableId};
use bytes::Bytes;

/// A table to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableSpec {
    /// Never used before.
    pub id: TableId,
    /// At least one.
    pub families: Vec<FamilySpec>,
    /// Region borders, ascending: `n` splits make `n + 1` regions.
    pub splits: Vec<Bytes>,
}

/// A family of a new table. What a store cannot keep of it is refused with [`StoreError::Unsupported`], never
/// left out in silence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FamilySpec {
    /// Unique in its table.
    pub id: FamilyId,
    /// How the cells of a row lie in the store.
    pub cells: CellLayout,
    /// Versions kept of a cell, the newest included. More than 1 needs [`crate::Capabilities::history`].
    pub versions: u32,
    /// Cells older than so many milliseconds are not read any more.
    pub ttl_ms: Option<u64>,
}

impl FamilySpec {
    /// One fragment for each row, its newest state only, for ever.
    pub fn new(id: FamilyId) -> Self {
        Self { id, cells: CellLayout::Fragment, versions: 1, ttl_ms: None }
    }

    /// For backends that keep nothing but that.
    ///
    /// # Errors
    /// [`StoreError::Unsupported`], naming what was asked for beyond it.
    pub fn must_be_plain(&self) -> StoreResult<()> {
        match self {
            Self { cells: CellLayout::Columns, .. } => Err(StoreError::Unsupported { what: "a cell for each column" }),
            Self { versions: 0 | 2.., .. } => Err(StoreError::Unsupported { what: "several versions of a cell" }),
            Self { ttl_ms: Some(_), .. } => Err(StoreError::Unsupported { what: "a time to live" }),
            _ => Ok(()),
        }
    }
}

/// How the cells of a row in one family lie in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellLayout {
    /// All in one value, the fragment.
    Fragment,
    /// Each by itself, under its qualifier.
    Columns,
}

/// A change of the set of tables, part of a [`crate::WriteBatch`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableChange {
    /// Makes a table.
    Create(TableSpec),
    /// Drops a table: gone for new readers at once, its bytes are reclaimed later.
    Drop(TableId),
}

/// One region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionInfo {
    /// Its id.
    pub id: RegionId,
    /// Its rowkeys.
    pub range: KeyRange,
    /// Estimated from file metadata.
    pub size: TableSize,
    /// Rows read and written since the store was opened.
    pub reads: u64,
    /// As above.
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

/// What [`crate::Store::check`] read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Rows read, by table and family.
    pub rows: Vec<(TableId, FamilyId, u64)>,
    /// Bytes of keys and fragments read.
    pub bytes: u64,
    /// What is wrong. Empty means sound.
    pub problems: Vec<Problem>,
}

/// Something that [`crate::Store::check`] found wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where: its rows were not counted, or not all of them. `None` is the store as a whole.
    pub place: Option<(TableId, FamilyId)>,
    /// One line for a person.
    pub what: String,
}

/// Figures of the whole store, since it was opened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoreStats {
    /// Name (snake case, with its unit) and value; names are stable, they are shown as metrics.
    pub values: Vec<(&'static str, u64)>,
}
