//! Writes the rows of a large commit to files without the commit lock.

use super::staged::StagedFile;
use super::targets::{Part, Target, Targets};
use crate::commit::pipeline::Last;
use crate::error::io;
use crate::inner::Inner;
use crate::limits::{check_fragment, check_key, check_own_key};
use crate::load::ingestion::{Ingestion, number_of};
use crate::memtables::flush::rotate;
use crate::seam::{files, thread};
use crate::stamp;
use fjall::{AbstractTree, Keyspace};
use std::fs::File;
use std::time::Duration;
use store::{CommitNo, LargeWrite, StoreError, StoreResult};

/// Flushing a memtable of this size takes some milliseconds.
const SMALL_MEMTABLE: u64 = 256 << 10;
/// Maximum flushes of a memtable that other commits keep filling, before the lock is taken.
const FLUSHES: usize = 3;
/// Bytes of a run between two syncs.
const UNSYNCED_BYTES: usize = 16 << 20;

/// One run for each keyspace with rows.
pub(super) struct Runs<'a> {
    pub(super) all: Vec<Run<'a>>,
    pub(super) rows: u64,
}

/// The rows of one keyspace, not installed yet.
pub(super) struct Run<'a> {
    pub(super) keyspace: &'a Keyspace,
    pub(super) ingestion: Ingestion<'a>,
    unsynced: usize,
}

impl<'a> Runs<'a> {
    /// Stamps and writes all rows, also to `staged`.
    ///
    /// # Errors
    /// I/O failures, rows beyond the limits, and errors of [`LargeWrite::rows`].
    pub(super) fn write(
        inner: &Inner,
        targets: &'a Targets,
        write: &dyn LargeWrite,
        stamp: Last,
        mut staged: Option<&mut StagedFile>,
    ) -> StoreResult<Self> {
        let mut runs = Self { all: Vec::with_capacity(targets.all.len()), rows: 0 };
        for (number, target) in targets.all.iter().enumerate() {
            if let Some(staged) = &mut staged {
                staged.begin(number);
            }
            let mut run = None;
            for part in &target.parts {
                let rows = Rows { inner, part, stamp };
                runs.rows += rows.write(target, write, &mut run, staged.as_deref_mut())?;
            }
            runs.all.extend(run);
        }
        Ok(runs)
    }

    /// Syncs the runs and flushes the keyspaces, to minimize the work under the commit lock.
    ///
    /// # Errors
    /// I/O failures; [`StoreError::ReadOnly`].
    pub(super) fn settle(&self, inner: &Inner) -> StoreResult<()> {
        self.all.iter().try_for_each(Run::sync)?;
        // Installing a run flushes the memtable of its keyspace.
        for run in &self.all {
            let mut flushes = 0;
            while run.keyspace.tree.active_memtable().size() > SMALL_MEMTABLE && flushes < FLUSHES {
                flushes += 1;
                rotate(inner, run.keyspace)?;
                while run.keyspace.sealed_memtable_count() > 0 {
                    inner.pipeline.read_only.check()?;
                    inner.check_open()?;
                    thread::sleep(Duration::from_millis(1));
                }
            }
        }
        Ok(())
    }
}

impl<'a> Run<'a> {
    fn begin(keyspace: &'a Keyspace, by: CommitNo) -> StoreResult<Self> {
        Ok(Self { keyspace, ingestion: Ingestion::begin(keyspace, by)?, unsynced: 0 })
    }

    /// Counts written bytes and syncs in pieces, because one large sync would delay those of the journal.
    fn wrote(&mut self, bytes: usize) -> StoreResult<()> {
        self.unsynced += bytes;
        if self.unsynced < UNSYNCED_BYTES {
            return Ok(());
        }
        self.unsynced = 0;
        self.sync()
    }

    /// Syncs the files written so far through separate handles; lsm-tree syncs each file only at its end. Concurrent
    /// files of flushes and compactions are synced, too, which is harmless.
    fn sync(&self) -> StoreResult<()> {
        let folder = self.keyspace.path().join("tables");
        let listing = || io(format!("listing {}", folder.display()));
        for entry in std::fs::read_dir(&folder).map_err(listing())? {
            let entry = entry.map_err(listing())?;
            if number_of(&entry.path()).is_none_or(|number| number < self.ingestion.first_file()) {
                continue;
            }
            match File::open(entry.path()).and_then(|file| files::sync_data(&file)) {
                // Written by a compaction and deleted by now.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                outcome => outcome.map_err(io(format!("syncing {}", entry.path().display())))?,
            }
        }
        Ok(())
    }
}

/// Writes the rows of one family.
struct Rows<'w> {
    inner: &'w Inner,
    part: &'w Part,
    stamp: Last,
}

impl Rows<'_> {
    /// Returns the number of rows.
    fn write<'a>(
        &self,
        target: &'a Target,
        write: &dyn LargeWrite,
        run: &mut Option<Run<'a>>,
        mut staged: Option<&mut StagedFile>,
    ) -> StoreResult<u64> {
        let (mut count, mut last, mut stamped) = (0, None, Vec::new());
        for row in write.rows(self.part.id, self.part.family)? {
            let (key, fragment) = row?;
            self.check(&key, fragment.as_deref())?;
            if last.is_some_and(|last| last >= key) {
                return Err(StoreError::Unsupported { what: "a large commit whose rows are not in key order" });
            }
            let run = match run {
                Some(run) => run,
                None => run.insert(Run::begin(&target.keyspace, self.stamp.commit)?),
            };
            self.part.table.count_write(&key);
            let stored = self.part.place.key(&key);
            stamped.clear();
            if let Some(fragment) = &fragment {
                stamped.extend_from_slice(fragment);
                stamp::write(&mut stamped, self.stamp.stamp, self.stamp.commit)?;
            }
            let value = fragment.is_some().then_some(stamped.as_slice());
            if let Some(staged) = &mut staged {
                staged.push(&stored, value)?;
            }
            run.ingestion.write(stored, value)?;
            run.wrote(key.len() + stamped.len())?;
            count += 1;
            last = Some(key);
        }
        Ok(count)
    }

    fn check(&self, key: &[u8], fragment: Option<&[u8]>) -> StoreResult<()> {
        self.inner.check_open()?;
        check_key(key)?;
        if self.part.place.slot.is_none() {
            check_own_key(key)?;
        }
        fragment.map_or(Ok(()), check_fragment)
    }
}
