//! Flushes memtables on request and at close.

use crate::error::engine;
use crate::inner::Inner;
use crate::journal::watermark_follower::Follower;
use crate::seam::{Instant, is_left_out, thread};
use fjall::{AbstractTree, Keyspace};
use std::time::Duration;
use store::{StoreResult, TableId};

/// Time limit of the flush at close. Remaining rows are replayed from the journal at the next open.
const CLOSE_PATIENCE: Duration = Duration::from_secs(10);

/// See [`store::Store::flush`].
///
/// # Errors
/// As [`store::Store::flush`].
pub(crate) fn table(inner: &Inner, id: TableId, major: bool) -> StoreResult<()> {
    let state = inner.pipeline.publisher.newest().clone();
    for family in &state.tables.table(id)?.families {
        let keyspace = &family.place.keyspace;
        rotate(inner, keyspace)?;
        while keyspace.sealed_memtable_count() > 0 {
            inner.pipeline.read_only.check()?;
            // After close a failed flush is not reported any more.
            inner.check_open()?;
            thread::sleep(Duration::from_millis(1));
        }
        if major {
            // Refreshed before the compaction, because rows that the states hold cannot be reclaimed.
            refresh(inner);
            keyspace.major_compact().map_err(engine("compacting"))?;
        }
    }
    refresh(inner);
    Ok(())
}

/// Seals the memtable of a keyspace, so that it is flushed.
///
/// fjall 3.1.13 syncs the journal before a flush, and then flushes every memtable that is sealed when the flush begins.
/// A memtable sealed in between would become durable in this keyspace only, although its batches may have written to
/// others. So the journal is synced before a memtable is sealed, and only this function seals memtables (see
/// `open/mod.rs`).
///
/// # Errors
/// [`store::StoreError::ReadOnly`]; errors of the rotation.
pub(crate) fn rotate(inner: &Inner, keyspace: &Keyspace) -> StoreResult<()> {
    let pipeline = &inner.pipeline;
    let sync = || pipeline.group_sync.journal().sync().map_err(|error| pipeline.read_only.set(&error));
    // Synced before the lock, too, so that the sync under the lock is short.
    sync()?;
    let _alone = inner.admission.lock_gate_exclusively();
    let _last = pipeline.lock();
    sync()?;
    inner.memtables.note(keyspace);
    inner.sealed_numbers.note(keyspace);
    keyspace.rotate_memtable().map_err(engine("flushing"))?;
    inner.sealed.add(&pipeline.db, keyspace)
}

/// Replaces fjall's snapshot in the newest and the published state, so that they use the result of flushes and
/// compactions. A read-only store keeps its states: a failed commit may be in some of its keyspaces, and only recovery
/// completes or reverts it.
pub(crate) fn refresh(inner: &Inner) {
    let pipeline = &inner.pipeline;
    let _last = (!is_left_out("the commit lock of a refresh")).then(|| pipeline.lock());
    if pipeline.read_only.is_set() {
        return;
    }
    pipeline.publisher.refresh(pipeline.nonces.take(&pipeline.db));
}

/// A clean close: makes everything durable, flushes memtables, releases reserved commit numbers.
///
/// # Errors
/// The error of the last sync.
pub(crate) fn at_close(inner: &Inner) -> StoreResult<()> {
    let pipeline = &inner.pipeline;
    if !is_left_out("the end of commits in close") {
        let _alone = inner.admission.lock_gate_exclusively();
        pipeline.end();
    }
    // No commits follow, so the newest commit is the last one and the numbers after it can be released.
    pipeline.group_sync.sync_blocking()?;
    flush_all(inner)?;
    // The watermark now covers the whole journal.
    Follower::default().advance(inner)?;
    pipeline.watermark.release(pipeline.publisher.newest().commit)
}

fn flush_all(inner: &Inner) -> StoreResult<()> {
    let keyspaces = all_keyspaces(inner);
    for keyspace in &keyspaces {
        if !keyspace.tree.active_memtable().is_empty() {
            rotate(inner, keyspace)?;
        }
    }
    let begun = Instant::now();
    let unflushed = || keyspaces.iter().any(|keyspace| keyspace.sealed_memtable_count() > 0);
    // After a failure nothing is flushed any more; the journal contains all rows.
    while unflushed() && begun.elapsed() < CLOSE_PATIENCE && !inner.pipeline.read_only.is_set() {
        thread::sleep(Duration::from_millis(1));
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::load::ingestion::Ingestion;
    use crate::open::open;
    use crate::options::Options;
    use store::{CommitNo, Durability, FamilyId, FamilySpec, StoreError, TableChange, TableSpec, WriteBatch};

    #[test]
    fn what_a_failed_commit_has_written_is_not_shown() {
        let folder = tempfile::tempdir().unwrap();
        let inner = open(folder.path(), Options::default()).unwrap();
        let spec = TableSpec { id: TableId(1), families: vec![FamilySpec::new(FamilyId(0))], splits: vec![] };
        let creation = WriteBatch { tables: vec![TableChange::Create(spec)], ..WriteBatch::default() };
        let creation = inner.pipeline.prepare(creation).unwrap();
        inner.pipeline.apply(creation, Durability::Buffered, &[]).unwrap();
        let rows = || {
            let state = inner.pipeline.publisher.published().clone();
            let (_, place) = state.tables.place(TableId(1), FamilyId(0)).unwrap();
            (fjall::Readable::len(state.snapshot.as_ref(), &place.keyspace).unwrap(), place.keyspace.clone())
        };
        let (before, keyspace) = rows();
        // As if a commit had written one of two keyspaces when writing the other failed.
        let half = |key: &'static [u8]| {
            let mut ingestion = Ingestion::begin(&keyspace, CommitNo(100)).unwrap();
            ingestion.write(key.into(), Some(b"row")).unwrap();
            ingestion.finish().unwrap();
        };
        half(b"a");
        refresh(&inner);
        assert_eq!(rows().0, before + 1, "without a failure the states have what the keyspaces have");
        half(b"b");
        inner
            .pipeline
            .read_only
            .set(&StoreError::DiskFull { action: "installing a run".into(), reason: "ENOSPC".into() });
        refresh(&inner);
        assert_eq!(rows().0, before + 1);
    }
}
