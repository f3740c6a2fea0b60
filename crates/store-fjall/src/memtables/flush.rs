//! Writing memtables to disk, at a request and at the end.

use crate::error::engine;
use crate::inner::Inner;
use crate::journal::watermark_follower::Follower;
use crate::seam::{Instant, is_left_out, thread};
use fjall::{AbstractTree, Keyspace};
use std::time::Duration;
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
        rotate(inner, keyspace)?;
        while keyspace.sealed_memtable_count() > 0 {
            inner.pipeline.read_only.check()?;
            // Behind the end nobody notices that a flush fails.
            inner.check_open()?;
            thread::sleep(Duration::from_millis(1));
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

/// Seals the memtable of a keyspace, which sends it to disk.
///
/// fjall 3.1.13 syncs the journal before a flush, and then takes every memtable that is sealed by the time the flush
/// begins: what was sealed in between it would make durable in this keyspace only, half of a batch that wrote to others
/// too. So what is sealed is durable in the journal before, and nobody else seals (see `open/mod.rs`).
///
/// # Errors
/// [`store::StoreError::ReadOnly`]; failures of the rotation.
pub(crate) fn rotate(inner: &Inner, keyspace: &Keyspace) -> StoreResult<()> {
    let pipeline = &inner.pipeline;
    let sync = || pipeline.group_sync.journal().sync().map_err(|error| pipeline.read_only.set(&error));
    // Once more under the lock there is little left to sync.
    sync()?;
    let _alone = inner.admission.alone_blocking();
    let _last = pipeline.lock();
    sync()?;
    inner.memtables.note(keyspace);
    inner.sealed_numbers.note(keyspace);
    keyspace.rotate_memtable().map_err(engine("flushing"))?;
    inner.sealed.add(&pipeline.db, keyspace)
}

/// Lets the newest and the published state see what flushes and compactions made. A store that is read-only keeps the states that
/// it has: the commit that failed may be in some of its keyspaces already, and only an opening finishes or undoes it.
pub(crate) fn refresh(inner: &Inner) {
    let pipeline = &inner.pipeline;
    let _last = (!is_left_out("the commit lock of a refresh")).then(|| pipeline.lock());
    if pipeline.read_only.is_set() {
        return;
    }
    pipeline.publisher.refresh(pipeline.nonces.take(&pipeline.db));
}

/// The orderly end: everything durable, memtables on disk, numbers released.
///
/// # Errors
/// The last sync's failure.
pub(crate) fn at_close(inner: &Inner) -> StoreResult<()> {
    let pipeline = &inner.pipeline;
    if !is_left_out("the end of commits in close") {
        let _alone = inner.admission.alone_blocking();
        pipeline.end();
    }
    // From here on the newest commit is the last one: nobody waits for another, and its number may be released.
    pipeline.group_sync.sync_blocking()?;
    flush_all(inner)?;
    // From here on all of the journal is vouched for.
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
    // After a failure nothing will be flushed: the journal has it all.
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
        // One keyspace of two has its rows when the other's fail.
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
