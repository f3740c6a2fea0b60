//! Reclaims the rows of dropped tables.
//!
//! Rows of a slot are deleted with tombstones, chunk by chunk, so that commits can run in between; older snapshots
//! still see them. A record in the meta keyspace lists each such slot, so a restart continues. A keyspace is deleted as
//! a whole; readers that hold it continue, and its files are deleted with the last handle.

use crate::error::engine;
use crate::inner::Inner;
use crate::meta;
use fjall::{OwnedWriteBatch, Readable};
use std::ops::Bound;
use store::{KeyRange, StoreResult};

/// Rows deleted per tick: some milliseconds under the commit lock.
const CHUNK: usize = 2000;

/// The progress in the first slot of the queue.
#[derive(Default)]
pub(crate) struct Purge {
    /// The last deleted key. The next search starts after it, so that it need not skip the tombstones before.
    resume: Option<(u32, Vec<u8>)>,
}

impl Purge {
    /// Deletes one chunk, if there is one.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn tick(&mut self, inner: &Inner) -> StoreResult<()> {
        delete_keyspaces(inner)?;
        // The first in the queue, so that a table that is dropped meanwhile does not interrupt its purge.
        let slot = inner.reclaim.lock().slots.first().copied();
        let Some(slot) = slot else {
            return Ok(());
        };
        if self.chunk(inner, slot)? {
            inner.reclaim.lock().slots.retain(|other| *other != slot);
        }
        Ok(())
    }

    /// Deletes a chunk of `slot`'s rows. Returns whether none are left.
    fn chunk(&mut self, inner: &Inner, slot: u32) -> StoreResult<bool> {
        let pipeline = &inner.pipeline;
        let range = KeyRange::prefix(slot.to_be_bytes().to_vec());
        let start = match &self.resume {
            Some((resumed, key)) if *resumed == slot => Bound::Excluded(key.clone()),
            _ => Bound::Included(range.start.to_vec()),
        };
        let end = range.end.map_or(Bound::Unbounded, |end| Bound::Excluded(end.to_vec()));
        let snapshot = pipeline.publisher.newest().snapshot.clone();
        let mut batch = OwnedWriteBatch::with_capacity(pipeline.db.clone(), CHUNK);
        for guard in snapshot.range(&pipeline.shared, (start, end)).take(CHUNK) {
            let key = guard.key().map_err(engine("reading rows of a dropped table"))?;
            self.resume = Some((slot, key.to_vec()));
            batch.remove(&pipeline.shared, key);
        }
        let finished = batch.len() < CHUNK;
        if finished {
            self.resume = None;
            meta::remove_purge(&mut batch, &pipeline.meta, slot);
        }
        pipeline.commit_internal(batch)?;
        Ok(finished)
    }
}

fn delete_keyspaces(inner: &Inner) -> StoreResult<()> {
    let keyspaces = std::mem::take(&mut inner.reclaim.lock().keyspaces);
    if keyspaces.is_empty() {
        return Ok(());
    }
    // A deletion is durable at once, so the commit that dropped the table must be durable before.
    inner.pipeline.group_sync.sync_blocking()?;
    for keyspace in keyspaces {
        let name = keyspace.name().to_string();
        let deleted = inner.pipeline.db.delete_keyspace(keyspace);
        deleted.map_err(engine(format_args!("deleting keyspace {name}")))?;
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::open::open;
    use crate::options::Options;
    use bytes::Bytes;
    use store::{Durability, FamilyId, FamilySpec, Mutation, TableChange, TableId, TableSpec, WriteBatch};

    fn change(change: TableChange) -> WriteBatch {
        WriteBatch { tables: vec![change], ..WriteBatch::default() }
    }

    fn apply(inner: &Inner, batch: WriteBatch) {
        let batch = inner.pipeline.prepare(batch).unwrap();
        let (_, dropped) = inner.pipeline.apply(batch, Durability::Buffered, &[]).unwrap();
        inner.reclaim.lock().append(dropped);
    }

    /// Creates a table with `rows` rows and drops it.
    fn dropped_table(inner: &Inner, id: u32, rows: u32) {
        let family = FamilyId(0);
        let families = vec![FamilySpec::new(family)];
        apply(inner, change(TableChange::Create(TableSpec { id: TableId(id), families, splits: vec![] })));
        let mut row = Vec::new();
        fragment::encode_sparse(1, &[(1, b"value")], &mut row).unwrap();
        let mutations = (0..rows).map(|n| Mutation::Replace {
            table: TableId(id),
            family,
            key: Bytes::copy_from_slice(&n.to_be_bytes()),
            fragment: row.clone(),
        });
        apply(inner, WriteBatch { mutations: mutations.collect(), ..WriteBatch::default() });
        apply(inner, change(TableChange::Drop(TableId(id))));
    }

    #[test]
    fn a_drop_does_not_interrupt_the_purge_under_way() {
        let folder = tempfile::tempdir().unwrap();
        let inner = open(folder.path(), Options::default()).unwrap();
        dropped_table(&inner, 1, 5000);
        let mut purge = Purge::default();
        purge.tick(&inner).unwrap();
        let (slot, key) = purge.resume.clone().unwrap();
        dropped_table(&inner, 2, 3000);
        purge.tick(&inner).unwrap();
        let (resumed, further) = purge.resume.clone().unwrap();
        assert!(resumed == slot && further > key, "slot {slot} from {key:?} to {further:?}");
        for _ in 0..5 {
            purge.tick(&inner).unwrap();
        }
        assert!(inner.reclaim.lock().slots.is_empty() && purge.resume.is_none());
    }
}
