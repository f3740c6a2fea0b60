//! Releases journals that fjall keeps although nothing needs them.
//!
//! fjall (3.1.13, `JournalManager::maintenance`) deletes the oldest sealed journal when the tables of each of its
//! keyspaces have a sequence number at least as large as the newest in the memtable when the journal was sealed. A
//! compaction that drops the newest tombstones of a keyspace with the rows that they deleted removes that number again,
//! possibly before the other keyspaces are flushed. If nobody writes to the keyspace from then on, that journal and all
//! later ones are kept.
//!
//! ```text
//!   memtable with 9 sealed and flushed ──> tables up to 9 ──compaction──> tables up to 3      recorded: 9
//!   journals are left, and no flush is under way ──> a tombstone of an unused key, and a flush
//! ```

use crate::error::engine;
use crate::inner::Inner;
use crate::memtables::flush::rotate;
use crate::seam::{Instant, Mutex, engine_threads};
use fjall::{AbstractTree, Keyspace, OwnedWriteBatch};
use std::collections::HashMap;
use std::time::Duration;
use store::StoreResult;

/// fjall deletes the journals that it can within this time after the last flush.
const PATIENCE: Duration = Duration::from_secs(1);

/// The newest sequence number seen in a memtable of each keyspace, by keyspace id.
#[derive(Debug, Default)]
pub(crate) struct SealedNumbers(Mutex<HashMap<u64, u64>>);

impl SealedNumbers {
    /// Records the newest sequence number of a keyspace's memtables.
    pub(crate) fn note(&self, keyspace: &Keyspace) {
        let Some(newest) = keyspace.tree.get_highest_memtable_seqno() else { return };
        self.0.lock().entry(keyspace.id()).and_modify(|noted| *noted = newest.max(*noted)).or_insert(newest);
    }

    /// Returns the keyspaces without memtable entries whose tables lack the recorded number.
    fn without_newest<'k>(&self, keyspaces: &'k [Keyspace]) -> Vec<&'k Keyspace> {
        let mut noted = self.0.lock();
        noted.retain(|id, _| keyspaces.iter().any(|keyspace| keyspace.id() == *id));
        let lack = |keyspace: &&Keyspace| {
            let tree = &keyspace.tree;
            tree.get_highest_memtable_seqno().is_none()
                && noted.get(&keyspace.id()).is_some_and(|noted| tree.get_highest_persisted_seqno() < Some(*noted))
        };
        keyspaces.iter().filter(lack).collect()
    }
}

/// Looks for such journals at each tick of the housekeeper.
#[derive(Debug, Default)]
pub(crate) struct HeldJournals {
    /// Since when there have been sealed journals and no flushes.
    since: Option<Instant>,
}

impl HeldJournals {
    /// Releases the journals after a delay.
    ///
    /// # Errors
    /// Errors of a commit or a flush.
    pub(crate) fn tick(&mut self, inner: &Inner, keyspaces: &[Keyspace]) -> StoreResult<()> {
        let db = &inner.pipeline.db;
        keyspaces.iter().for_each(|keyspace| inner.sealed_numbers.note(keyspace));
        if db.journal_count() < 2 || engine_threads::outstanding_flushes(db) > 0 {
            self.since = None;
            return Ok(());
        }
        if self.since.get_or_insert_with(Instant::now).elapsed() < PATIENCE {
            return Ok(());
        }
        self.since = None;
        inner.sealed_numbers.without_newest(keyspaces).into_iter().try_for_each(|keyspace| touch(inner, keyspace))
    }
}

/// Gives the tables of a keyspace a newer sequence number with the tombstone of an unused key, which no reader sees.
fn touch(inner: &Inner, keyspace: &Keyspace) -> StoreResult<()> {
    let pipeline = &inner.pipeline;
    {
        // Under the commit lock nobody writes the key between the search and the tombstone.
        let _last = pipeline.lock_to_write()?;
        let mut key = [0xFF; 16];
        let mut number = 0_u64;
        while keyspace.contains_key(key).map_err(engine("looking for a key that is not there"))? {
            number += 1;
            key = u128::from(number).to_be_bytes();
        }
        let mut batch = OwnedWriteBatch::with_capacity(pipeline.db.clone(), 1);
        batch.remove(keyspace, key);
        pipeline.write_locked(batch)?;
    }
    rotate(inner, keyspace)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;
    use crate::open::open;
    use crate::options::Options;
    use std::thread::sleep;
    use xxhash_rust::xxh3::xxh3_64;

    const MIB: usize = 1 << 20;

    fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
        let begun = std::time::Instant::now();
        while !is_so() {
            assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
            sleep(Duration::from_millis(5));
        }
    }

    struct Folder {
        inner: Inner,
        idle: Keyspace,
        busy: Keyspace,
        _folder: tempfile::TempDir,
    }

    impl Folder {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let inner = open(folder.path(), Options::default()).unwrap();
            let keyspace = |name: &str| inner.pipeline.db.keyspace(name, Default::default).unwrap();
            let (idle, busy) = (keyspace("idle"), keyspace("busy"));
            Self { inner, idle, busy, _folder: folder }
        }

        fn write(&self, add: impl FnOnce(&mut OwnedWriteBatch)) {
            let mut batch = OwnedWriteBatch::with_capacity(self.inner.pipeline.db.clone(), 1);
            add(&mut batch);
            self.inner.pipeline.commit_internal(batch).unwrap();
        }

        fn flush(&self, keyspace: &Keyspace) {
            rotate(&self.inner, keyspace).unwrap();
            wait_until("flushed", || keyspace.sealed_memtable_count() == 0);
        }

        /// Creates a journal that fjall keeps: it holds a row that was deleted and compacted away before another
        /// keyspace was flushed.
        fn hold_a_journal(&self) {
            self.write(|batch| batch.insert(&self.idle, [0xFF; 16], "row"));
            self.write(|batch| batch.remove(&self.idle, [0xFF; 16]));
            for megabyte in 0..66_u8 {
                let row = (0..MIB as u64 / 8).map(|at| xxh3_64(&[at.to_be_bytes(), [megabyte; 8]].concat()));
                let row: Vec<u8> = row.flat_map(u64::to_be_bytes).collect();
                self.write(|batch| batch.insert(&self.busy, [megabyte], row));
            }
            self.flush(&self.idle);
            assert_eq!(self.inner.pipeline.db.journal_count(), 2);
            self.idle.major_compact().unwrap();
            self.flush(&self.busy);
            self.flush(&self.inner.pipeline.meta);
        }
    }

    #[test]
    fn a_journal_is_let_go_whose_tombstones_are_compacted_away() {
        let folder = Folder::new();
        folder.hold_a_journal();
        let db = &folder.inner.pipeline.db;
        sleep(Duration::from_millis(200));
        // fjall itself does not delete it. If a later version does, this module is not needed any more.
        assert_eq!(db.journal_count(), 2);
        let keyspaces = [folder.idle.clone(), folder.busy.clone(), folder.inner.pipeline.meta.clone()];
        let mut held = HeldJournals::default();
        wait_until("the journal is let go", || {
            held.tick(&folder.inner, &keyspaces).unwrap();
            db.journal_count() == 1
        });
        assert!(folder.idle.is_empty().unwrap());
        assert_eq!(folder.busy.len().unwrap(), 66);
    }

    #[test]
    fn a_key_that_is_there_is_not_taken_away() {
        let folder = Folder::new();
        folder.write(|batch| batch.insert(&folder.idle, [0xFF; 16], "row"));
        touch(&folder.inner, &folder.idle).unwrap();
        assert_eq!(folder.idle.len().unwrap(), 1);
    }
}
