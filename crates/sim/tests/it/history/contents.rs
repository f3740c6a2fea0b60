//! The whole content of a store, read in several ways.

use super::ledger::{Ledger, Table};
use super::row;
use std::collections::BTreeMap;
use store::{CommitNo, FamilyId, KeyRange, PointRead, ScanRequest, Snapshot, Store, TableId};
use store_fjall::FjallStore;

/// Tables by id.
pub(crate) type Contents = BTreeMap<u32, Table>;

/// The tables of a store with their rows. The error describes the damage.
pub(crate) async fn of_store(store: &FjallStore, wanted: impl Fn(u32) -> bool) -> Result<Contents, String> {
    let said = |what: &str, error: store::StoreError| format!("{what}: {error}");
    let report = store.check().await.map_err(|error| said("check", error))?;
    if let Some(problem) = report.problems.first() {
        return Err(format!("check found {problem:?}"));
    }
    let snapshot = store.snapshot(CommitNo(0)).await.map_err(|error| said("snapshot", error))?;
    let mut contents = Contents::new();
    for (table, family, counted) in report.rows.into_iter().filter(|(table, ..)| wanted(table.0)) {
        let rows = scan(store, table, family, &snapshot).await?;
        if rows.len() as u64 != counted {
            return Err(format!("check counted {counted} rows in {table}, a scan {}", rows.len()));
        }
        let into = contents.entry(table.0).or_default();
        into.families += 1;
        into.rows.extend(rows);
    }
    for (id, table) in &contents {
        gets(store, *id, table, &snapshot).await?;
    }
    Ok(contents)
}

async fn scan(
    store: &FjallStore,
    table: TableId,
    family: FamilyId,
    snapshot: &Snapshot,
) -> Result<Vec<(u64, u64)>, String> {
    let said = |error: store::StoreError| format!("scanning {table}: {error}");
    let request = ScanRequest::new(table, family, vec![KeyRange::all()]);
    let mut scan = store.scan(request, snapshot).await.map_err(said)?;
    let mut rows: Vec<(u64, u64)> = Vec::new();
    while let Some(batch) = scan.next().await.map_err(said)? {
        for (key, fragment) in batch.keys().zip(batch.fragments()) {
            let number = row::number_of(key).ok_or_else(|| format!("{table} has a key nobody wrote: {key:?}"))?;
            if rows.last().is_some_and(|(before, _)| *before >= number) {
                return Err(format!("row {number} of {table} is out of order"));
            }
            let writer = row::writer_of(number, fragment);
            rows.push((number, writer.ok_or_else(|| format!("row {number} of {table} has another content"))?));
        }
    }
    Ok(rows)
}

/// Reads some rows by key, each with a neighbour that may not exist.
async fn gets(store: &FjallStore, id: u32, table: &Table, snapshot: &Snapshot) -> Result<(), String> {
    let step = (table.rows.len() / 8).max(1);
    for number in table.rows.keys().step_by(step).flat_map(|number| [*number, number + 1]) {
        let (family, key) = (FamilyId(table.family_of(number)), row::key(number));
        let found = store.get_row(TableId(id), family, &key, snapshot).await;
        let found = found.map_err(|error| format!("getting row {number} of {id}: {error}"))?;
        let writer = found.and_then(|fragment| row::writer_of(number, &fragment));
        if writer.as_ref() != table.rows.get(&number) {
            return Err(format!(
                "row {number} of table {id}: a get finds {writer:?}, a scan {:?}",
                table.rows.get(&number)
            ));
        }
    }
    Ok(())
}

/// Describes the first difference; `None` if there is none.
pub(crate) fn difference(ledger: &Ledger, found: &Contents) -> Option<String> {
    let (due, there): (Vec<_>, Vec<_>) = (ledger.tables.keys().collect(), found.keys().collect());
    if due != there {
        return Some(format!("tables {there:?} instead of {due:?}"));
    }
    ledger.tables.iter().find_map(|(id, due)| {
        let there = found.get(id)?;
        if due.families != there.families {
            return Some(format!("table {id} has {} families instead of {}", there.families, due.families));
        }
        let lost = due.rows.iter().find(|(number, writer)| there.rows.get(number) != Some(writer));
        let extra = there.rows.iter().find(|(number, writer)| due.rows.get(number) != Some(writer));
        if lost.is_none() && extra.is_none() {
            return None;
        }
        let counts = format!("{} rows instead of {}", there.rows.len(), due.rows.len());
        Some(format!("table {id}: {counts}; due (row, step) {lost:?}, found {extra:?}"))
    })
}
