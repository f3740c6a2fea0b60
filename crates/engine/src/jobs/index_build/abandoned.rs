//! Half-built indexes without a job: dropped when the engine starts, before any write.
//!
//! An index and its job are created by one change, so such an index exists only if a record was lost.

use super::BuildSpec;
use crate::Engine;
use crate::error::EngineResult;
use crate::jobs::Job;
use crate::jobs::index_drop::DropSpec;
use crate::jobs::kind::{INDEX_BUILD, INDEX_DROP, from_json};
use catalog::{Index, IndexState, TableOid};
use std::sync::Arc;

/// Drops half-built indexes that no unfinished job builds or drops.
///
/// # Errors
/// Errors of the store.
pub(crate) async fn drop_abandoned(engine: &Engine, jobs: &[Arc<Job>]) -> EngineResult<()> {
    let records = jobs.iter().map(|job| job.record()).filter(|record| !record.state.is_final());
    let about = records.filter_map(|record| match record.kind.as_str() {
        INDEX_BUILD => from_json::<BuildSpec>(&record.spec).ok().map(|spec| spec.index),
        INDEX_DROP => from_json::<DropSpec>(&record.spec).ok().map(|spec| spec.index),
        _ => None,
    });
    let about: Vec<u32> = about.collect();
    let half = |index: &Index| matches!(index.state, IndexState::DeleteOnly | IndexState::WriteOnly);
    let catalog = engine.catalog().current();
    let all = catalog.tables().flat_map(|table| table.indexes.iter().map(|index| (table.oid, index)));
    let gone: Vec<(TableOid, u32)> = all
        .filter(|(_, index)| half(index) && !about.contains(&index.oid))
        .map(|(table, index)| (table, index.oid))
        .collect();
    if gone.is_empty() {
        return Ok(());
    }
    tracing::warn!(indexes = gone.len(), "indexes that were half built and have no job are dropped");
    let change = |draft: &mut catalog::Draft| {
        gone.iter().try_for_each(|(table, index)| match draft.detach_index(*table, *index)? {
            Some(storage) => draft.drop_detached(storage),
            None => Ok(()),
        })
    };
    Ok(engine.catalog().change(change).await?)
}
