//! The catalog as rows of its system table: `docs/formats/catalog.md`.
//!
//! ```text
//!   key    kind (1 byte) | id (4 bytes, big-endian; none for the counters)
//!   value  a dense fragment of layout 0, whose one column holds JSON: {"format": 1, "value": ...}
//! ```

mod change;
mod counters;
mod format;
mod row;
mod rows;
mod values;

pub(crate) use change::Change;
pub(crate) use counters::{Counters, read_counters, version_at};
pub use format::FORMAT;
pub(crate) use format::{json_of, nothing};
pub(crate) use row::{FAMILY, Kind, corrupted, fragment_of};
pub(crate) use values::{read_row_id_mark, read_sequence_value, write_row_id_mark, write_sequence_value};

use crate::intent::{self, ReadCounters};
use crate::{Catalog, CatalogResult, JobRecord, SYSTEM_TABLE, SequenceValue, TableOid};
use row::put_json;
use rows::Rows;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use store::{
    CommitNo, Durability, FamilySpec, KeyRange, ScanRequest, Snapshot, Store, StoreError, TableChange, TableId,
    TableSpec, WriteBatch,
};

/// A catalog read from its store.
pub(crate) struct Loaded {
    pub(crate) catalog: Catalog,
    /// The commit that wrote the counters row.
    pub(crate) commit: CommitNo,
    /// The mark of each node, with the commit stamp of its row.
    pub(crate) row_id_marks: BTreeMap<u32, (u64, CommitNo)>,
    /// With the commit stamps of their rows.
    pub(crate) sequence_values: BTreeMap<TableOid, (SequenceValue, CommitNo)>,
    pub(crate) jobs: Vec<JobRecord>,
}

/// Reads the catalog; `None` in a store without one. Finishes a change that another process left in progress.
pub(crate) async fn load(store: &dyn Store) -> CatalogResult<Option<Loaded>> {
    let in_one_batch = supports_atomic_changes(store);
    loop {
        let read = if in_one_batch { read_counters(store).await? } else { intent::finish(store, None).await? };
        let Some(ReadCounters { commit, .. }) = read else { return Ok(None) };
        if !in_one_batch {
            // The process that wrote the row may have crashed before its sync.
            store.sync(commit).await?;
        }
        // A batch is atomic, so the snapshot has all rows of the change.
        let snapshot = store.snapshot(commit).await?;
        let request = ScanRequest::new(SYSTEM_TABLE, FAMILY, vec![KeyRange::all()]);
        let mut scan = store.scan(request, &snapshot).await?;
        let mut rows = Rows::default();
        while let Some(batch) = scan.next().await? {
            for (key, fragment) in batch.keys().zip(batch.fragments()) {
                rows.read(key, fragment)?;
            }
        }
        // Without atomic batches, a change may have been committed while the rows were read.
        let same = in_one_batch || read_counters(store).await?.is_some_and(|now| now.commit == commit);
        if same {
            return rows.into_loaded().map(Some);
        }
    }
}

/// The storages of all tables in a snapshot.
///
/// # Errors
/// [`CatalogError::Corrupted`], [`CatalogError::Store`].
pub(crate) async fn storages_at(store: &dyn Store, snapshot: &Snapshot) -> CatalogResult<BTreeSet<TableId>> {
    #[derive(Deserialize)]
    struct Stored {
        storage: u32,
    }
    let tables = vec![KeyRange::prefix(vec![Kind::Table as u8])];
    let mut scan = store.scan(ScanRequest::new(SYSTEM_TABLE, FAMILY, tables), snapshot).await?;
    let mut storages = BTreeSet::new();
    while let Some(batch) = scan.next().await? {
        for (key, bytes) in batch.keys().zip(batch.fragments()) {
            let table: Option<Stored> = rows::stored(key, bytes)?;
            storages.extend(table.map(|table| TableId(table.storage)));
        }
    }
    Ok(storages)
}

/// Whether a change and its tables can be one batch. If not, the change is a logged intent.
pub(crate) fn supports_atomic_changes(store: &dyn Store) -> bool {
    let can = store.capabilities();
    can.atomic_batches() && can.table_changes && can.store_snapshots()
}

/// Creates the system table in a new store.
pub(crate) async fn bootstrap(store: &dyn Store) -> CatalogResult<Loaded> {
    let catalog = Catalog::bootstrap();
    let families = vec![FamilySpec::new(FAMILY)];
    let create = TableChange::Create(TableSpec { id: SYSTEM_TABLE, families, splits: Vec::new() });
    let mut rows = Vec::new();
    for schema in catalog.schemas() {
        rows.push((Kind::Schema, schema.id.0, json_of(Kind::Schema, schema.id.0, schema)?));
    }
    rows.push((Kind::Counters, 0, json_of(Kind::Counters, 0, &Counters::of(&catalog))?));
    if !supports_atomic_changes(store) {
        return bootstrap_in_steps(store, create, rows).await;
    }
    let mutations = rows.iter().map(|(kind, id, json)| put_json(*kind, *id, json)).collect::<CatalogResult<_>>()?;
    let batch = WriteBatch { tables: vec![create], conditions: Vec::new(), mutations };
    let commit = store.apply(batch, Durability::Sync).await?;
    store.sync(commit).await?;
    let (row_id_marks, sequence_values, jobs) = Default::default();
    Ok(Loaded { catalog, commit, row_id_marks, sequence_values, jobs })
}

/// Creates the system table in steps. Another process may have taken each step: one that crashed, or one that opens the
/// store at the same time. The counters row is written last: it marks the catalog as complete.
async fn bootstrap_in_steps(
    store: &dyn Store,
    create: TableChange,
    rows: Vec<(Kind, u32, Vec<u8>)>,
) -> CatalogResult<Loaded> {
    let made = store.apply(WriteBatch { tables: vec![create], ..WriteBatch::default() }, Durability::Sync).await;
    match made {
        Ok(commit) => store.sync(commit).await?,
        Err(StoreError::TableExists { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    for (kind, id, json) in rows {
        match intent::replace(store, kind.key(id), fragment_of(&json)?, None).await {
            Ok(_) | Err(StoreError::ConditionFailed { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    load(store).await?.ok_or_else(|| corrupted("the counters row", "it is missing"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]
mod tests;
