//! Writing memtables to disk, at a request and at the end.

use crate::error::engine;
use crate::inner::Inner;
use fjall::{AbstractTree, Keyspace};
use std::time::{Duration, Instant};
use store::{StoreResult, TableId};

/// At close, flushing may take this long; what is left is replayed from the journal at the next open.
const CLOSE_PATIENCE: Duration = Duration::from_secs(10);

/// See [`store::Store::flush`].
///
/// # Errors
/// As there.
pub(crate) fn table(inner: &Inner, id: TableId, major: bool) -> StoreResult<()> {
    let state = inner.pipeline.publisher.newest().clone();
    for family in &state.tables.table(id)?.families {
        let keyspace = &family.place.keyspace;
        keyspace.rotate_memtable().map_err(engine("flushing"))?;
        while keyspace.sealed_memtable_count() > 0 {
            inner.pipeline.read_only.check()?;
            std::thread::sleep(Duration::from_millis(1));
        }
        if major {
            // What the states hold cannot be reclaimed: let them hold the present only.
            refresh(inner);
            keyspace.major_compact().map_err(engine("compacting"))?;
        }
    }
    refresh(inner);
    Ok(())
}

/// Lets the newest and the published state see what flushes and compactions made.
pub(crate) fn refresh(inner: &Inner) {
    let _last = inner.pipeline.lock();
    inner.pipeline.publisher.refresh(inner.pipeline.db.snapshot());
}

/// The orderly end: everything durable, memtables on disk, numbers released.
///
/// # Errors
/// The last sync's failure.
pub(crate) fn at_close(inner: &Inner) -> StoreResult<()> {
    let pipeline = &inner.pipeline;
    pipeline.group_sync.sync_blocking()?;
    flush_all(inner)?;
    pipeline.watermark.release(pipeline.publisher.newest().commit)
}

fn flush_all(inner: &Inner) -> StoreResult<()> {
    let keyspaces = all_keyspaces(inner);
    for keyspace in &keyspaces {
        if !keyspace.tree.active_memtable().is_empty() {
            keyspace.rotate_memtable().map_err(engine("flushing"))?;
        }
    }
    let begun = Instant::now();
    let unflushed = || keyspaces.iter().any(|keyspace| keyspace.sealed_memtable_count() > 0);
    // After a failure nothing will be flushed: the journal has it all.
    while unflushed() && begun.elapsed() < CLOSE_PATIENCE && !inner.pipeline.read_only.is_set() {
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

/// Every keyspace of the newest state.
pub(crate) fn all_keyspaces(inner: &Inner) -> Vec<Keyspace> {
    let state = inner.pipeline.publisher.newest();
    let families = state.tables.iter().flat_map(|(_, table)| &table.families);
    let own = families.filter(|family| family.place.slot.is_none()).map(|family| family.place.keyspace.clone());
    [inner.pipeline.meta.clone(), inner.pipeline.shared.clone()].into_iter().chain(own).collect()
}
