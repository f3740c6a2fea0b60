//! Catalog changes on a store whose batches are atomic per row: a logged intent that any process can finish or undo.
//!
//! ```text
//!   counters row:   version 7
//!     log ───────>  version 7, intent of 8          the process that writes it has the turn; others finish it first
//!     create tables (each may already exist)
//!     decide ────>  version 7, intent of 8, decided     from here on it can only be finished
//!     write rows    each on the condition that it is unchanged since the intent was logged
//!     publish ───>  version 8, tables to be dropped
//!     drop tables   (each may already be dropped)
//!     clear ─────>  version 8
//!   undo, instead of decide ───>  version 8, which changed nothing; tables to be dropped
//! ```
//! Each arrow replaces the counters row on the condition that it is unchanged since it was read, so exactly one process
//! takes each step; the work between steps may be done by several processes. A process that pauses in the middle and
//! resumes later does no harm: by then, rows that were written have other commit stamps. For this reason rows are
//! replaced by `null` instead of deleted, and a version is never reused.

use crate::stored::{self, Change, Counters, FAMILY, Kind};
use crate::{CatalogError, CatalogResult, SYSTEM_TABLE};
use serde::{Deserialize, Serialize};
use store::{
    Bytes, CommitNo, Condition, Durability, FamilyId, FamilySpec, Mutation, PointRead, Store, StoreError, StoreResult,
    TableChange, TableId, TableSpec, WriteBatch,
};

/// How many undone versions the counters row keeps, for processes that ask for the outcome of theirs.
const UNDONE_KEPT: usize = 64;

/// A change in progress, as stored in the counters row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Intent {
    version: u64,
    next_oid: u32,
    next_storage: u32,
    creates: Vec<NewStorage>,
    drops: Vec<u32>,
    rows: Vec<LoggedRow>,
    decided: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct NewStorage {
    id: u32,
    splits: Vec<Vec<u8>>,
}

/// A row to be written, and its previous commit stamp; `None` if the row did not exist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct LoggedRow {
    key: Vec<u8>,
    json: String,
    expect: Option<u64>,
}

/// The counters row and the commit that wrote it.
#[derive(Debug)]
pub(crate) struct ReadCounters {
    pub(crate) counters: Counters,
    pub(crate) commit: CommitNo,
}

/// Commits `change`, which was drafted from the catalog whose counters row commit `last` wrote.
///
/// # Errors
/// [`StoreError::ConditionFailed`] on the counters row if that catalog is not the newest; the store's error if it
/// refused a table, which undoes the change. After any other error the outcome is known when the catalog is read again.
pub(crate) async fn commit(store: &dyn Store, change: &Change, last: CommitNo) -> CatalogResult<ReadCounters> {
    let version = change.catalog.version;
    let read = stored::read_counters(store).await?.filter(|read| read.commit == last);
    let Some(read) = read else { return Err(CatalogError::ChangedElsewhere) };
    let intent = Some(intent_of(store, change).await?);
    replace_counters(store, &Counters { intent, ..read.counters }, last).await?;
    let read = finish(store, Some(version)).await?;
    read.ok_or_else(|| stored::corrupted("the counters row", "it is missing"))
}

/// Finishes or undoes the intent in progress, of this or another process. `None`: the store has no catalog yet.
///
/// # Errors
/// The store's; if the intent of version `own` was undone, the error that caused it.
pub(crate) async fn finish(store: &dyn Store, own: Option<u64>) -> CatalogResult<Option<ReadCounters>> {
    let mut refused = None;
    loop {
        let Some(ReadCounters { counters, commit }) = stored::read_counters(store).await? else { return Ok(None) };
        let next = match (&counters.intent, counters.drops.is_empty()) {
            (None, true) => {
                let undone = own.is_some_and(|own| counters.undone.contains(&own));
                return if undone {
                    Err(refused.unwrap_or(CatalogError::ChangedElsewhere))
                } else {
                    Ok(Some(ReadCounters { counters, commit }))
                };
            }
            (None, false) => {
                drop_tables(store, &counters.drops).await?;
                Counters { drops: Vec::new(), ..counters }
            }
            (Some(intent), _) if intent.decided => {
                write_rows(store, intent).await?;
                published(&counters, intent)
            }
            (Some(intent), _) => match make_tables(store, intent).await {
                Ok(()) => Counters { intent: Some(Intent { decided: true, ..intent.clone() }), ..counters },
                Err(error) => {
                    let next = undone(&counters, intent);
                    if own == Some(intent.version) {
                        refused = Some(error.into());
                    }
                    next
                }
            },
        };
        match replace_counters(store, &next, commit).await {
            // Another process took the step.
            Ok(()) | Err(CatalogError::Store(StoreError::ConditionFailed { .. })) => {}
            Err(error) => return Err(error),
        }
    }
}

async fn intent_of(store: &dyn Store, change: &Change) -> CatalogResult<Intent> {
    let mut intent = Intent {
        version: change.catalog.version,
        next_oid: change.catalog.next_oid,
        next_storage: change.catalog.next_storage,
        creates: Vec::new(),
        drops: Vec::new(),
        rows: Vec::with_capacity(change.rows.len()),
        decided: false,
    };
    for table in &change.tables {
        match table {
            TableChange::Create(spec) => {
                let splits = spec.splits.iter().map(|split| split.to_vec()).collect();
                intent.creates.push(NewStorage { id: spec.id.0, splits });
            }
            TableChange::Drop(table) => intent.drops.push(table.0),
        }
    }
    for (key, json) in &change.rows {
        let old = store.get_newest(SYSTEM_TABLE, FAMILY, key).await?;
        let expect = old.as_deref().and_then(fragment::header::commit_of).map(|commit| commit.0);
        let json = match json {
            Some(json) => String::from_utf8_lossy(json).into_owned(),
            None => stored::nothing(),
        };
        intent.rows.push(LoggedRow { key: key.to_vec(), json, expect });
    }
    Ok(intent)
}

async fn make_tables(store: &dyn Store, intent: &Intent) -> StoreResult<()> {
    for table in &intent.creates {
        let splits = table.splits.iter().cloned().map(Bytes::from).collect();
        let spec = TableSpec { id: TableId(table.id), families: vec![FamilySpec::new(FamilyId(0))], splits };
        match change_table(store, TableChange::Create(spec)).await {
            Ok(_) | Err(StoreError::TableExists { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

async fn drop_tables(store: &dyn Store, drops: &[u32]) -> StoreResult<()> {
    for table in drops {
        match change_table(store, TableChange::Drop(TableId(*table))).await {
            Ok(_) | Err(StoreError::NoSuchTable { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

async fn change_table(store: &dyn Store, change: TableChange) -> StoreResult<CommitNo> {
    commit_batch(store, WriteBatch { tables: vec![change], ..WriteBatch::default() }).await
}

async fn write_rows(store: &dyn Store, intent: &Intent) -> CatalogResult<()> {
    for row in &intent.rows {
        let key = Bytes::from(row.key.clone());
        let fragment = stored::fragment_of(row.json.as_bytes())?;
        match replace(store, key, fragment, row.expect.map(CommitNo)).await {
            // Already written by another process.
            Ok(_) | Err(StoreError::ConditionFailed { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn published(counters: &Counters, intent: &Intent) -> Counters {
    Counters {
        version: intent.version,
        next_oid: intent.next_oid,
        next_storage: intent.next_storage,
        intent: None,
        drops: intent.drops.clone(),
        undone: counters.undone.clone(),
    }
}

/// Undoing uses up the version and the ids: a paused process may still create a table with them.
fn undone(counters: &Counters, intent: &Intent) -> Counters {
    let mut undone = counters.undone.clone();
    undone.push(intent.version);
    undone.drain(..undone.len().saturating_sub(UNDONE_KEPT));
    let drops = intent.creates.iter().map(|table| table.id).collect();
    Counters { drops, undone, ..published(counters, intent) }
}

async fn replace_counters(store: &dyn Store, counters: &Counters, expect: CommitNo) -> CatalogResult<()> {
    let fragment = stored::fragment_of(&stored::json_of(Kind::Counters, 0, counters)?)?;
    Ok(replace(store, Kind::Counters.key(0), fragment, Some(expect)).await.map(drop)?)
}

/// Writes one row of the system table if it has the expected commit stamp (`None`: if it does not exist). Returns the
/// new stamp.
pub(crate) async fn replace(
    store: &dyn Store,
    key: Bytes,
    fragment: Vec<u8>,
    expect: Option<CommitNo>,
) -> StoreResult<CommitNo> {
    let (table, family) = (SYSTEM_TABLE, FAMILY);
    let conditions = vec![Condition { table, family, key: key.clone(), expect }];
    let mutations = vec![Mutation::Replace { table, family, key, fragment }];
    commit_batch(store, WriteBatch { conditions, mutations, ..WriteBatch::default() }).await
}

async fn commit_batch(store: &dyn Store, batch: WriteBatch) -> StoreResult<CommitNo> {
    let commit = store.apply(batch, Durability::Sync).await?;
    store.sync(commit).await?;
    Ok(commit)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]
mod tests;
