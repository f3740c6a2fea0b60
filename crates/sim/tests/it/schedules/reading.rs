//! Reads the content of a store.

use super::tables::Read;
use crate::history::row;
use fragment::Fragment;
use std::collections::BTreeMap;
use std::ops::Range;
use store::{CommitNo, FamilyId, KeyRange, ScanRequest, Snapshot, Store, StoreError, StoreResult, TableId};
use store_fjall_sim::FjallStore;

/// Tables as read.
pub(crate) type Found = BTreeMap<u32, BTreeMap<u64, Read>>;

/// One in five tables has two families.
pub(crate) fn families_of(table: u32) -> u16 {
    if table.is_multiple_of(5) { 2 } else { 1 }
}

/// The family of a row.
pub(crate) fn family_of(table: u32, number: u64) -> FamilyId {
    FamilyId((number % u64::from(families_of(table))) as u16)
}

/// The writer and the stamp of a fragment.
pub(crate) fn read_row(number: u64, bytes: &[u8]) -> Read {
    let writer = row::writer_of(number, bytes).unwrap_or_else(|| panic!("row {number} has another content"));
    (writer, Fragment::parse(bytes).unwrap().commit().0)
}

/// All rows of a table; `None` if it does not exist.
///
/// # Errors
/// Those of the store.
pub(crate) async fn table(
    store: &FjallStore,
    table: u32,
    snapshot: &Snapshot,
) -> StoreResult<Option<BTreeMap<u64, Read>>> {
    let mut rows = BTreeMap::new();
    for family in 0..families_of(table) {
        let request = ScanRequest::new(TableId(table), FamilyId(family), vec![KeyRange::all()]);
        let mut scan = match store.scan(request, snapshot).await {
            Err(StoreError::NoSuchTable { .. }) => return Ok(None),
            scan => scan?,
        };
        while let Some(batch) = scan.next().await? {
            for (key, bytes) in batch.keys().zip(batch.fragments()) {
                let number = row::number_of(key).unwrap();
                let twice = rows.insert(number, read_row(number, bytes));
                assert!(twice.is_none(), "row {number} of table {table} came twice");
            }
        }
    }
    Ok(Some(rows))
}

/// All tables with these ids.
///
/// # Errors
/// Those of the store.
pub(crate) async fn all(store: &FjallStore, ids: Range<u32>) -> StoreResult<Found> {
    let mut found = BTreeMap::new();
    for id in ids {
        found.extend(newest(store, id).await?.map(|rows| (id, rows)));
    }
    Ok(found)
}

/// A table in the newest published state.
///
/// # Errors
/// Those of the store.
async fn newest(store: &FjallStore, id: u32) -> StoreResult<Option<BTreeMap<u64, Read>>> {
    loop {
        let snapshot = store.snapshot(CommitNo(0)).await?;
        match table(store, id, &snapshot).await {
            // A delayed task may hold a snapshot longer than the age limit.
            Err(StoreError::SnapshotTooOld { .. }) => {}
            read => return read,
        }
    }
}

/// Checks that nothing is damaged.
///
/// # Errors
/// Those of the store.
pub(crate) async fn check(store: &FjallStore) -> StoreResult<()> {
    let report = store.check().await?;
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    Ok(())
}
