//! Regions of a table, and the statistics and splits that planning needs.

use crate::commit::publish::State;
use crate::read::{self, Position, ReadSource};
use std::sync::atomic::Ordering;
use store::{FamilyId, KeyRange, RegionInfo, StoreResult, TableId, TableSize};

/// The regions of a table in key order, with sizes summed over its families.
///
/// # Errors
/// [`store::StoreError::NoSuchTable`].
pub(crate) fn list(state: &State, id: TableId) -> StoreResult<Vec<RegionInfo>> {
    let table = state.tables.table(id)?;
    let mut regions = Vec::with_capacity(table.regions.len());
    for (index, region) in table.regions.iter().enumerate() {
        let range = table.region_range(index);
        let mut size = TableSize::default();
        for family in &table.families {
            let part = read::estimate::estimate(&source(state, id, family.id)?, std::slice::from_ref(&range))?;
            size.rows = size.rows.max(part.rows);
            size.bytes += part.bytes;
        }
        regions.push(RegionInfo {
            id: region.id,
            range,
            size,
            reads: region.load.reads.load(Ordering::Relaxed),
            writes: region.load.writes.load(Ordering::Relaxed),
        });
    }
    Ok(regions)
}

/// See [`store::Store::estimate`].
///
/// # Errors
/// As [`store::Store::estimate`].
pub(crate) fn estimate(state: &State, id: TableId, family: FamilyId, ranges: &[KeyRange]) -> StoreResult<TableSize> {
    read::estimate::estimate(&source(state, id, family)?, ranges)
}

/// See [`store::Store::split`].
///
/// # Errors
/// As [`store::Store::split`].
pub(crate) fn split(
    state: &State,
    id: TableId,
    family: FamilyId,
    ranges: &[KeyRange],
    pieces: usize,
) -> StoreResult<Vec<Vec<KeyRange>>> {
    read::split::split(&source(state, id, family)?, ranges, pieces)
}

/// Where readers find a family's rows.
///
/// # Errors
/// [`store::StoreError::NoSuchTable`], [`store::StoreError::NoSuchFamily`].
pub(crate) fn source(state: &State, id: TableId, family: FamilyId) -> StoreResult<ReadSource> {
    let (_, place) = state.tables.place(id, family)?;
    Ok(ReadSource {
        keyspace: place.keyspace.clone(),
        prefix: place.prefix.clone(),
        position: Position::Live(state.snapshot.clone()),
        views: state.views.clone(),
    })
}
