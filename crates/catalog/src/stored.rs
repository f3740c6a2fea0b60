//! The catalog as rows of its system table: `docs/formats/catalog.md`.
//!
//! ```text
//!   key    kind (1 byte) | id (4 bytes, big-endian; none for the counters)
//!   value  a dense fragment of layout 0, whose one column holds JSON: {"format": 1, "value": ...}
//! ```

mod rows;

use crate::intent::{self, Intent, ReadCounters};
use crate::{
    Catalog, CatalogError, CatalogResult, Draft, Index, JobRecord, SYSTEM_TABLE, SequenceValue, Table, TableOid,
};
use fragment::{Fragment, Layout, LayoutColumn};
use rows::{Rows, value};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::{
    Bytes, CommitNo, Condition, Durability, FamilyId, FamilySpec, KeyRange, Mutation, PointRead, ScanRequest, Snapshot,
    Store, StoreError, TableChange, TableSpec, WriteBatch,
};

/// Newest format of rows that this build reads. Grows when an older build could not read them, or could not do
/// without what is in them.
pub const FORMAT: u32 = 8;
/// The format of rows that every build reads.
const FORMAT_1: u32 = 1;
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

pub(crate) const FAMILY: FamilyId = FamilyId(0);

/// What a row is about: the first byte of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    Counters = 0,
    Schema = 1,
    Table = 2,
    /// Storage of a table that is not published yet.
    Staged = 3,
    /// Mark of the hidden row ids of one node.
    RowIdMark = 4,
    View = 5,
    Sequence = 6,
    /// Where a sequence stands.
    SequenceValue = 7,
    /// Comments of one object.
    Comments = 8,
    /// Work that goes on beside statements.
    Job = 9,
    /// What ANALYZE has found out about a table.
    Statistics = 10,
}

impl Kind {
    const ALL: [Self; 11] = [
        Self::Counters,
        Self::Schema,
        Self::Table,
        Self::Staged,
        Self::RowIdMark,
        Self::View,
        Self::Sequence,
        Self::SequenceValue,
        Self::Comments,
        Self::Job,
        Self::Statistics,
    ];

    pub(crate) fn key(self, id: u32) -> Bytes {
        let mut key = vec![self as u8];
        if self != Self::Counters {
            key.extend_from_slice(&id.to_be_bytes());
        }
        key.into()
    }

    fn of(key: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| key.first() == Some(&(*kind as u8)))
    }
}

#[derive(Serialize, Deserialize)]
struct Versioned<T> {
    format: u32,
    value: T,
}

/// Enough to tell a newer format before its value is looked at.
#[derive(Deserialize)]
struct FormatOnly {
    format: u32,
}

/// What every change of the catalog replaces, and what tells a reader that nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counters {
    pub(crate) version: u64,
    pub(crate) next_oid: u32,
    pub(crate) next_storage: u32,
    /// A change under way, on stores that cannot make it in one batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) intent: Option<Intent>,
    /// Storages that no version has any more and that may still be there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) drops: Vec<u32>,
    /// Versions that were undone, the latest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) undone: Vec<u64>,
}

/// A catalog read from its store.
pub(crate) struct Loaded {
    pub(crate) catalog: Catalog,
    /// The commit that wrote the counters.
    pub(crate) commit: CommitNo,
    /// Each node's, with the stamp of its row.
    pub(crate) row_id_marks: BTreeMap<u32, (u64, CommitNo)>,
    /// With the stamps of their rows.
    pub(crate) sequence_values: BTreeMap<TableOid, (SequenceValue, CommitNo)>,
    pub(crate) jobs: Vec<JobRecord>,
}

/// A change of the catalog, ready to be written.
pub(crate) struct Change {
    /// The next version.
    pub(crate) catalog: Catalog,
    pub(crate) tables: Vec<TableChange>,
    /// Keys and JSON of all rows that differ, but for the counters; `None`: the row goes.
    pub(crate) rows: Vec<(Bytes, Option<Vec<u8>>)>,
}

impl Change {
    /// The one batch that makes it. Holds only while the counters row is the one that commit `last` wrote.
    pub(crate) fn batch(&self, last: CommitNo) -> CatalogResult<WriteBatch> {
        let unchanged =
            Condition { table: SYSTEM_TABLE, family: FAMILY, key: Kind::Counters.key(0), expect: Some(last) };
        let mut mutations = vec![put(Kind::Counters, 0, &counters_of(&self.catalog))?];
        for (key, json) in &self.rows {
            let (table, family, key) = (SYSTEM_TABLE, FAMILY, key.clone());
            mutations.push(match json {
                Some(json) => Mutation::Replace { table, family, key, fragment: fragment_of(json)? },
                None => Mutation::Delete { table, family, key },
            });
        }
        Ok(WriteBatch { tables: self.tables.clone(), conditions: vec![unchanged], mutations })
    }
}

/// Reads the catalog; `None` in a store that has none. Brings to its end what other processes left under way.
pub(crate) async fn load(store: &dyn Store) -> CatalogResult<Option<Loaded>> {
    let in_one_batch = changes_in_one_batch(store);
    loop {
        let read = if in_one_batch { read_counters(store).await? } else { intent::finish(store, None).await? };
        let Some(ReadCounters { commit, .. }) = read else { return Ok(None) };
        if !in_one_batch {
            // Who wrote it may have died before its sync.
            store.sync(commit).await?;
        }
        // A row of a batch stands for the whole: the rows of the same change are in this snapshot too.
        let snapshot = store.snapshot(commit).await?;
        let request = ScanRequest::new(SYSTEM_TABLE, FAMILY, vec![KeyRange::all()]);
        let mut scan = store.scan(request, &snapshot).await?;
        let mut rows = Rows::default();
        while let Some(batch) = scan.next().await? {
            for (key, fragment) in batch.keys().zip(batch.fragments()) {
                rows.read(key, fragment)?;
            }
        }
        // Else a change may have been made while its rows were read.
        let same = in_one_batch || read_counters(store).await?.is_some_and(|now| now.commit == commit);
        if same {
            return rows.into_loaded().map(Some);
        }
    }
}

/// Can a change and its tables be one batch? Otherwise it is a logged intent.
pub(crate) fn changes_in_one_batch(store: &dyn Store) -> bool {
    let can = store.capabilities();
    can.atomic_batches() && can.table_changes && can.store_snapshots()
}

/// The counters row; `None` in a store that has no catalog.
pub(crate) async fn read_counters(store: &dyn Store) -> CatalogResult<Option<ReadCounters>> {
    let row = match store.get_newest(SYSTEM_TABLE, FAMILY, &Kind::Counters.key(0)).await {
        Ok(Some(row)) => row,
        // Whoever made the table died before the row.
        Ok(None) if !changes_in_one_batch(store) => return Ok(None),
        Ok(None) => return Err(corrupted("the counters row", "it is missing")),
        Err(StoreError::NoSuchTable { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let what = || "the counters row".to_string();
    let fragment = Fragment::parse(&row).map_err(|error| corrupted(what(), error))?;
    let counters = value(json_in(&fragment, &what)?, &what)?;
    Ok(Some(ReadCounters { counters, commit: fragment.commit() }))
}

/// The version of the catalog that a snapshot holds.
///
/// # Errors
/// [`CatalogError::Corrupted`], [`CatalogError::Store`].
pub(crate) async fn version_at(store: &dyn Store, snapshot: &Snapshot) -> CatalogResult<u64> {
    let key = Kind::Counters.key(0);
    let what = || "the counters row".to_string();
    let row = store.get_row(SYSTEM_TABLE, FAMILY, &key, snapshot).await?;
    let row = row.ok_or_else(|| corrupted(what(), "it is missing"))?;
    let fragment = Fragment::parse(&row).map_err(|error| corrupted(what(), error))?;
    let counters: Counters = value(json_in(&fragment, &what)?, &what)?;
    Ok(counters.version)
}

/// Makes the system table in a new store.
pub(crate) async fn bootstrap(store: &dyn Store) -> CatalogResult<Loaded> {
    let catalog = Catalog::bootstrap();
    let families = vec![FamilySpec::new(FAMILY)];
    let create = TableChange::Create(TableSpec { id: SYSTEM_TABLE, families, splits: Vec::new() });
    let mut rows = Vec::new();
    for schema in catalog.schemas() {
        rows.push((Kind::Schema, schema.id.0, json_of(Kind::Schema, schema.id.0, schema)?));
    }
    rows.push((Kind::Counters, 0, json_of(Kind::Counters, 0, &counters_of(&catalog))?));
    if !changes_in_one_batch(store) {
        return bootstrap_in_steps(store, create, rows).await;
    }
    let mutations = rows.iter().map(|(kind, id, json)| put_json(*kind, *id, json)).collect::<CatalogResult<_>>()?;
    let batch = WriteBatch { tables: vec![create], conditions: Vec::new(), mutations };
    let commit = store.apply(batch, Durability::Sync).await?;
    store.sync(commit).await?;
    let (row_id_marks, sequence_values, jobs) = Default::default();
    Ok(Loaded { catalog, commit, row_id_marks, sequence_values, jobs })
}

/// Each step may have been taken by a process that died, or by one that opens the store at the same time. The
/// counters come last: with them the catalog is there.
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

/// Makes a mark of hidden row ids durable, if its row still carries the stamp `expect`. The row's new stamp.
pub(crate) async fn write_row_id_mark(
    store: &dyn Store,
    node: u32,
    mark: u64,
    expect: Option<CommitNo>,
) -> CatalogResult<CommitNo> {
    let json = json_of(Kind::RowIdMark, node, &mark)?;
    Ok(intent::replace(store, Kind::RowIdMark.key(node), fragment_of(&json)?, expect).await?)
}

/// The mark of a node's hidden row ids, with the stamp of its row.
pub(crate) async fn read_row_id_mark(store: &dyn Store, node: u32) -> CatalogResult<Option<(u64, CommitNo)>> {
    read_row(store, Kind::RowIdMark, node).await
}

/// Makes a place of a sequence durable, as [`write_row_id_mark`].
pub(crate) async fn write_sequence_value(
    store: &dyn Store,
    oid: TableOid,
    value: &SequenceValue,
    expect: Option<CommitNo>,
) -> CatalogResult<CommitNo> {
    let json = json_of(Kind::SequenceValue, oid.0, value)?;
    Ok(intent::replace(store, Kind::SequenceValue.key(oid.0), fragment_of(&json)?, expect).await?)
}

/// Where a sequence stands, with the stamp of its row.
pub(crate) async fn read_sequence_value(
    store: &dyn Store,
    oid: TableOid,
) -> CatalogResult<Option<(SequenceValue, CommitNo)>> {
    read_row(store, Kind::SequenceValue, oid.0).await
}

async fn read_row<T: DeserializeOwned>(store: &dyn Store, kind: Kind, id: u32) -> CatalogResult<Option<(T, CommitNo)>> {
    let what = || format!("{kind:?} {id}");
    let Some(row) = store.get_newest(SYSTEM_TABLE, FAMILY, &kind.key(id)).await? else { return Ok(None) };
    let fragment = Fragment::parse(&row).map_err(|error| corrupted(what(), error))?;
    let json = json_in(&fragment, &what)?;
    if json == nothing().as_bytes() {
        return Ok(None);
    }
    Ok(Some((value(json, &what)?, fragment.commit())))
}

impl Draft {
    /// Gives up what a process that died had prepared.
    pub(crate) fn drop_staged(&mut self) -> CatalogResult<()> {
        for storage in std::mem::take(&mut self.next.staged) {
            self.dirty.staged.insert(storage);
            self.stores.push(TableChange::Drop(store::TableId(storage)));
        }
        Ok(())
    }

    pub(crate) fn changes_something(&self) -> bool {
        let dirty = &self.dirty;
        let relations = dirty.tables.is_empty() && dirty.views.is_empty() && dirty.sequences.is_empty();
        let rows = !(dirty.schemas.is_empty() && relations && dirty.comments.is_empty() && dirty.staged.is_empty());
        rows || !self.stores.is_empty() || !self.jobs.is_empty()
    }

    /// The next version and what differs in the store.
    pub(crate) fn finish(mut self) -> CatalogResult<Change> {
        self.drop_lost_comments();
        let Self { next, dirty, stores: tables, jobs, .. } = self;
        let mut rows = Vec::new();
        for job in &jobs {
            rows.push(row_of(Kind::Job, job.id, Some(job))?);
        }
        for id in dirty.schemas {
            rows.push(row_of(Kind::Schema, id.0, next.schema_by_id(id))?);
        }
        for oid in dirty.tables {
            let json = next.table_by_oid(oid).map(|table| table_json(table)).transpose()?;
            if json.is_none() {
                rows.push((Kind::Statistics.key(oid.0), None));
            }
            rows.push((Kind::Table.key(oid.0), json));
        }
        for oid in dirty.views {
            rows.push(row_of(Kind::View, oid.0, next.view_by_oid(oid).map(Arc::as_ref))?);
        }
        for oid in dirty.sequences {
            let sequence = next.sequence_by_oid(oid).map(Arc::as_ref);
            rows.push(row_of(Kind::Sequence, oid.0, sequence)?);
            if sequence.is_none() {
                rows.push(row_of::<SequenceValue>(Kind::SequenceValue, oid.0, None)?);
            }
        }
        for oid in dirty.comments {
            rows.push(row_of(Kind::Comments, oid, next.comments.get(&oid).map(Arc::as_ref))?);
        }
        for storage in dirty.staged {
            rows.push(row_of(Kind::Staged, storage, next.staged.get(&storage))?);
        }
        Ok(Change { catalog: next, tables, rows })
    }
}

fn counters_of(catalog: &Catalog) -> Counters {
    Counters {
        version: catalog.version,
        next_oid: catalog.next_oid,
        next_storage: catalog.next_storage,
        intent: None,
        drops: Vec::new(),
        undone: Vec::new(),
    }
}

fn row_of<T: Serialize>(kind: Kind, id: u32, value: Option<&T>) -> CatalogResult<(Bytes, Option<Vec<u8>>)> {
    Ok((kind.key(id), value.map(|value| json_of(kind, id, value)).transpose()?))
}

/// A value as its row has it.
pub(crate) fn json_of<T: Serialize>(kind: Kind, id: u32, value: &T) -> CatalogResult<Vec<u8>> {
    json_in_format(FORMAT_1, kind, id, value)
}

fn table_json(table: &Table) -> CatalogResult<Vec<u8>> {
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

/// A row's fragment, not yet stamped.
pub(crate) fn fragment_of(json: &[u8]) -> CatalogResult<Vec<u8>> {
    let mut fragment = Vec::new();
    fragment::encode_dense(&layout(), &[Some(json)], &mut fragment)
        .map_err(|error| corrupted("a row to be written", error))?;
    Ok(fragment)
}

fn json_in<'a>(fragment: &Fragment<'a>, what: &dyn Fn() -> String) -> CatalogResult<&'a [u8]> {
    let layout = layout();
    let view = fragment.dense(&layout).map_err(|error| corrupted(what(), error))?;
    view.cell(0).ok_or_else(|| corrupted(what(), "it has no value"))
}

fn put<T: Serialize>(kind: Kind, id: u32, value: &T) -> CatalogResult<Mutation> {
    put_json(kind, id, &json_of(kind, id, value)?)
}

fn put_json(kind: Kind, id: u32, json: &[u8]) -> CatalogResult<Mutation> {
    Ok(Mutation::Replace { table: SYSTEM_TABLE, family: FAMILY, key: kind.key(id), fragment: fragment_of(json)? })
}

fn layout() -> Layout {
    Layout::new(0, vec![LayoutColumn { qualifier: 0, width: None }])
}

pub(crate) fn corrupted(what: impl std::fmt::Display, reason: impl std::fmt::Display) -> CatalogError {
    CatalogError::Corrupted { detail: format!("{what}: {reason}") }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]
mod tests;
