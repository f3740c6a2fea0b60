//! Tables, regions and figures, as the store sees them.

use crate::{FamilyId, KeyRange, RegionId, TableId};
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

/// A family of a new table. Options that later work needs are added here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FamilySpec {
    /// Unique in its table.
    pub id: FamilyId,
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
