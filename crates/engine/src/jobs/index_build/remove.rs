//! Drops an index while its table is written to.
//!
//! ```text
//!   Public ──> WriteOnly ──wait──> detached: no index, entries stay ──wait──> entries dropped
//! ```
//! Write statements that read the index hold the table's lock, and while they run all writers maintain the index.
//! Read-only statements have a snapshot in which it is complete. The entries stay for writers that know the index,
//! because their commits name its storage. After a crash the next start drops them.

use super::position::Position;
use super::writers::{share, wait_for_writers};
use crate::error::EngineResult;
use crate::jobs::job::JobContext;
use catalog::{IndexState, TableOid};
use store::TableId;

/// Drops an index, if it exists.
///
/// # Errors
/// 57P01; errors of the store.
pub(crate) async fn remove(context: &JobContext, table: u32, index: u32) -> EngineResult<()> {
    if state_of(context, table, index)? == Some(IndexState::Public) {
        let Some(storage) = storage_of(context, table)? else { return Ok(()) };
        let _lock = share(context, storage).await?;
        let change =
            |draft: &mut catalog::Draft| draft.set_build_state(TableOid(table), index, IndexState::WriteOnly).map(drop);
        context.change_catalog(None::<&Position>, change).await?;
    }
    if let Some(storage) = storage_of(context, table)? {
        context.while_open(wait_for_writers(context, storage)).await?;
    }
    let storage = detach(context, table, index).await?;
    drop_storage(context, table, storage).await
}

/// Removes the index from its table, and returns the storage of its entries.
///
/// # Errors
/// As [`remove`].
pub(crate) async fn detach(context: &JobContext, table: u32, index: u32) -> EngineResult<Option<u32>> {
    let Some(storage) = storage_of(context, table)? else { return Ok(None) };
    let _lock = share(context, storage).await?;
    context.change_catalog(None::<&Position>, |draft| draft.detach_index(TableOid(table), index)).await
}

/// Waits for writers that may know the index, and drops its entries.
///
/// # Errors
/// As [`remove`].
pub(super) async fn drop_storage(context: &JobContext, table: u32, entries: Option<u32>) -> EngineResult<()> {
    let Some(entries) = entries else { return Ok(()) };
    if let Some(storage) = storage_of(context, table)? {
        context.while_open(wait_for_writers(context, storage)).await?;
    }
    context.change_catalog(None::<&Position>, |draft| draft.drop_detached(entries)).await
}

fn storage_of(context: &JobContext, table: u32) -> EngineResult<Option<TableId>> {
    let catalog = context.engine()?.catalog().current();
    Ok(catalog.table_by_oid(TableOid(table)).map(|table| table.storage_id()))
}

fn state_of(context: &JobContext, table: u32, index: u32) -> EngineResult<Option<IndexState>> {
    let catalog = context.engine()?.catalog().current();
    let table = catalog.table_by_oid(TableOid(table));
    Ok(table.and_then(|table| table.indexes.iter().find(|it| it.oid == index)).map(|index| index.state))
}
