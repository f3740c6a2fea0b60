//! Validates a unique index: no two rows have equal values. Their entries would be adjacent.

use crate::dml::{FAMILY, Target};
use crate::error::EngineResult;
use crate::jobs::job::JobContext;
use crate::row_writer::index_codec;
use builtins::TimeZone;
use catalog::{Index, Table};
use index::IndexCodec;
use query::QueryError;
use std::sync::Arc;
use store::{Bytes, Durability, KeyRange, ScanRequest, Snapshot, Store, WriteBatch};
use types::interrupt;

/// Steps of an interrupt check that reading an entry counts as.
const STEPS_OF_AN_ENTRY: usize = 512;

/// Validates an index that all writers maintain and that has the entries of all rows, so that duplicates can only be
/// old.
pub(super) async fn run(context: &JobContext, table: &Arc<Table>, index: &Index) -> EngineResult<()> {
    let engine = context.engine()?;
    let target = Target::new(&engine.catalog().current(), table, TimeZone::UTC)?;
    let codec = index_codec(table, index)?;
    let store = Arc::clone(engine.store());
    drop(engine);
    // The writers that were waited for have committed, but may not be published yet.
    let last = store.apply(WriteBatch::default(), Durability::Buffered).await?;
    let entries = store.snapshot(last).await?;
    check_unique(store.as_ref(), &entries, &target, &codec, &|| context.check()).await
}

/// Rejects entries of two rows with equal values. Calls `check` between batches.
///
/// # Errors
/// 23505 with the values; errors of `check`.
pub(crate) async fn check_unique(
    store: &dyn Store,
    entries: &Snapshot,
    target: &Target,
    codec: &IndexCodec,
    check: &(dyn Fn() -> EngineResult<()> + Sync),
) -> EngineResult<()> {
    let mut request = ScanRequest::new(codec.index().storage_id(), FAMILY, vec![KeyRange::all()]);
    request.values = false;
    let mut scan = store.scan(request, entries).await?;
    let mut before = Bytes::new();
    while let Some(batch) = scan.next().await? {
        for key in batch.keys() {
            interrupt::spend(STEPS_OF_AN_ENTRY).map_err(QueryError::from)?;
            let Some(prefix) = codec.unique_prefix(key)?.and_then(|prefix| key.get(..prefix)) else { continue };
            if !before.is_empty() && prefix == before.as_ref() {
                return Err(target.duplicate_in(codec, &codec.part_values_of_key(key)?).for_new_unique_index());
            }
            before = Bytes::copy_from_slice(prefix);
        }
        check()?;
    }
    Ok(())
}
