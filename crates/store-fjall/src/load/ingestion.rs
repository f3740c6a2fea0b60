//! An ingestion that can be stored in a struct (fjall's type is not nameable, 3.1.13) and that deletes its files when
//! it is dropped unfinished; fjall deletes such files only at its next opening.

use crate::error::engine;
use crate::read;
use fjall::{AbstractTree, Keyspace, Slice};
use std::collections::HashSet;
use std::path::Path;
use store::{CommitNo, StoreResult};

/// Rows that are being written to tables of a keyspace and are not installed yet.
pub(crate) struct Ingestion<'a> {
    keyspace: &'a Keyspace,
    /// `None` once the rows may be installed.
    under_way: Option<UnderWay<'a>>,
    written: Written,
}

type UnderWay<'a> = Box<dyn FnMut(Step<'_>) -> fjall::Result<()> + 'a>;

/// Distinguishes the files of an ingestion from those of flushes and compactions.
#[derive(Clone, Copy)]
struct Written {
    /// Lower bound of the file numbers.
    from: u64,
    /// The commit number in all rows, and in no others.
    by: CommitNo,
    /// Whether some rows are tombstones. Only large commits write those, one at a time.
    deletes: bool,
}

enum Step<'r> {
    Write(Slice, &'r [u8]),
    Delete(Slice),
    Finish,
}

impl<'a> Ingestion<'a> {
    /// Begins an ingestion of rows that carry the commit number `by`, which must be unique.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn begin(keyspace: &'a Keyspace, by: CommitNo) -> StoreResult<Self> {
        let written = Written { from: keyspace.tree.next_table_id(), by, deletes: false };
        let mut ingestion = Some(keyspace.start_ingestion().map_err(engine("beginning an ingestion"))?);
        let under_way = move |step: Step<'_>| match (step, &mut ingestion) {
            (Step::Write(key, value), Some(ingestion)) => ingestion.write(key, value),
            (Step::Delete(key), Some(ingestion)) => ingestion.write_tombstone(key),
            (Step::Finish, _) => ingestion.take().map_or(Ok(()), |ingestion| ingestion.finish()),
            (_, None) => Ok(()),
        };
        Ok(Self { keyspace, under_way: Some(Box::new(under_way)), written })
    }

    /// Writes the next row; without a value a tombstone. Keys must ascend.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn write(&mut self, key: Slice, value: Option<&[u8]>) -> StoreResult<()> {
        let step = match value {
            Some(value) => Step::Write(key, value),
            None => Step::Delete(key),
        };
        self.written.deletes |= value.is_none();
        self.under_way.as_mut().map_or(Ok(()), |under_way| under_way(step)).map_err(engine("writing a run"))
    }

    /// Installs the rows as the newest of their keyspace, durably.
    ///
    /// # Errors
    /// I/O failures; the outcome is unknown.
    pub(crate) fn finish(mut self) -> StoreResult<()> {
        let under_way = self.under_way.take();
        under_way.map_or(Ok(()), |mut under_way| under_way(Step::Finish)).map_err(engine("installing a run"))
    }

    /// Returns true if the ingestion has tombstones.
    pub(crate) fn deletes(&self) -> bool {
        self.written.deletes
    }

    /// Lower bound of the numbers of its files.
    pub(crate) fn first_file(&self) -> u64 {
        self.written.from
    }
}

impl Drop for Ingestion<'_> {
    fn drop(&mut self) {
        let Some(under_way) = self.under_way.take() else { return };
        // Closes the last file and writes its buffer.
        drop(under_way);
        if let Err(error) = self.written.remove(self.keyspace) {
            // The next opening deletes them.
            tracing::warn!(keyspace = %self.keyspace.name(), %error, "files of a run that was given up stay");
        }
    }
}

impl Written {
    /// Deletes the files of an unfinished ingestion.
    fn remove(self, keyspace: &Keyspace) -> std::io::Result<()> {
        // Installed tables are never deleted, whatever their content.
        let shown: HashSet<u64> = keyspace.tree.current_version().iter_tables().map(|table| table.id()).collect();
        for entry in std::fs::read_dir(keyspace.path().join("tables"))? {
            let (number, path) = entry.map(|entry| (number_of(&entry.path()), entry.path()))?;
            let is_candidate = number.is_some_and(|number| number >= self.from && !shown.contains(&number));
            if is_candidate && read::is_unfinished_run_of(&path, self.by, self.deletes) {
                std::fs::remove_file(&path)?;
            }
        }
        Ok(())
    }
}

/// The number of a table file.
pub(crate) fn number_of(path: &Path) -> Option<u64> {
    path.file_name()?.to_str()?.parse().ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::inner::Inner;
    use crate::open::open;
    use crate::options::Options;
    use crate::stamp;
    use fjall::Readable;
    use store::Timestamp;

    /// A row of incompressible bytes.
    fn row(commit: u64, number: u32) -> Vec<u8> {
        let mixed = |at: u32| {
            let mixed = (number.wrapping_mul(0x9E37_79B9) ^ at.wrapping_mul(0x85EB_CA6B)).wrapping_mul(0xC2B2_AE35);
            ((mixed ^ (mixed >> 15)).wrapping_mul(0x27D4_EB2F) >> 24) as u8
        };
        let (mut row, value) = (Vec::new(), (0..200).map(mixed).collect::<Vec<u8>>());
        fragment::encode_sparse(1, &[(1, &value)], &mut row).unwrap();
        stamp::write(&mut row, Timestamp(1), CommitNo(commit)).unwrap();
        row
    }

    /// Non-empty files.
    fn files(keyspace: &Keyspace) -> HashSet<u64> {
        let entries = std::fs::read_dir(keyspace.path().join("tables")).unwrap().map(|entry| entry.unwrap());
        let full = entries.filter(|entry| entry.metadata().unwrap().len() > 0);
        full.map(|entry| number_of(&entry.path()).unwrap()).collect()
    }

    fn shown(keyspace: &Keyspace) -> HashSet<u64> {
        keyspace.tree.current_version().iter_tables().map(|table| table.id()).collect()
    }

    /// Writes and flushes rows like commits.
    fn flushed(inner: &Inner, commit: u64) {
        let shared = &inner.pipeline.shared;
        for number in 0..500_u32 {
            shared.insert([b"flushed", &number.to_be_bytes()[..]].concat(), row(commit, number)).unwrap();
        }
        shared.rotate_memtable_and_wait().unwrap();
    }

    #[test]
    fn what_is_given_up_leaves_no_file_and_takes_none_of_others() {
        let folder = tempfile::tempdir().unwrap();
        let inner = open(folder.path(), Options::default()).unwrap();
        let shared = &inner.pipeline.shared;
        flushed(&inner, 3);
        for (deletes, rows) in [(false, 4000_u32), (true, 200_000)] {
            let mut given_up = Ingestion::begin(shared, CommitNo(77)).unwrap();
            let mut other = Ingestion::begin(shared, CommitNo(78)).unwrap();
            for number in 0..rows {
                let value = (!deletes).then(|| row(77, number));
                given_up.write(number.wrapping_mul(7).to_be_bytes().into(), value.as_deref()).unwrap();
            }
            for number in 0..4000_u32 {
                other.write(number.to_be_bytes().into(), Some(&row(78, number))).unwrap();
            }
            flushed(&inner, 4);
            // A reader holds tables that the compaction replaces.
            let reader = inner.pipeline.db.snapshot();
            let seen = reader.iter(shared).count();
            shared.major_compact().unwrap();
            let before = files(shared);
            drop(given_up);
            let after = files(shared);
            assert_eq!(before.difference(&after).count(), 1, "deletes: {deletes}: {before:?}, {after:?}");
            other.finish().unwrap();
            assert_eq!(reader.iter(shared).count(), seen);
            drop(reader);
            assert!(files(shared).is_superset(&shown(shared)));
            assert_eq!(inner.pipeline.db.snapshot().iter(shared).count(), 4500);
        }
    }

    #[test]
    fn what_is_finished_stays() {
        let folder = tempfile::tempdir().unwrap();
        let inner = open(folder.path(), Options::default()).unwrap();
        let shared = &inner.pipeline.shared;
        let mut whole = Ingestion::begin(shared, CommitNo(77)).unwrap();
        for number in 0..4000_u32 {
            whole.write(number.to_be_bytes().into(), Some(&row(77, number))).unwrap();
        }
        whole.finish().unwrap();
        let mut given_up = Ingestion::begin(shared, CommitNo(77)).unwrap();
        given_up.write(b"k".into(), Some(&row(77, 1))).unwrap();
        drop(given_up);
        assert!(files(shared).is_superset(&shown(shared)));
        assert_eq!(inner.pipeline.db.snapshot().iter(shared).count(), 4000);
    }
}
