//! Verifies the data on disk: every block of every table with rows of a source, bypassing the cache.

use super::ReadSource;
use super::blocks::{Caching, DataBlock};
use super::blocks::{Entries, Run, RunBlock, RunCursor, View, compare_key};
use super::iterate::RangeIterator;
use super::range::StoredRange;
use fragment::{FragmentError, header};
use store::{KeyRange, StoreError, StoreResult};

/// Maximum number of problems that are listed.
const LISTED: usize = 100;

/// The result of a verification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verified {
    /// Rows at the snapshot.
    pub(crate) rows: u64,
    /// Bytes of keys and fragments on disk, including old versions.
    pub(crate) bytes: u64,
    /// One line per problem.
    pub(crate) problems: Vec<String>,
    /// Whether values are the store's own records instead of fragments.
    records: bool,
}

/// Verifies checksums, key order and fragment headers of all data of `source`, and counts its rows.
///
/// # Errors
/// None at present: problems are in the result.
pub(crate) fn verify(source: &ReadSource) -> StoreResult<Verified> {
    Verified::default().of(source)
}

/// As [`verify`] for a keyspace of records.
///
/// # Errors
/// As [`verify`].
pub(crate) fn verify_records(source: &ReadSource) -> StoreResult<Verified> {
    Verified { records: true, ..Verified::default() }.of(source)
}

impl Verified {
    fn of(mut self, source: &ReadSource) -> StoreResult<Self> {
        let Some(range) = StoredRange::new(&source.prefix, &KeyRange::all()) else { return Ok(self) };
        let view = View::roughly(source, &range);
        for run in &view.runs {
            self.check_run(source, &view, run, &range);
        }
        if self.problems.is_empty() {
            self.count_rows(source, &range);
        }
        Ok(self)
    }

    /// Checks a value.
    fn damage(&self, value: &[u8]) -> Option<FragmentError> {
        if self.records { None } else { header::check(value).err() }
    }

    fn check_run(&mut self, source: &ReadSource, view: &View, run: &Run, range: &StoredRange) {
        let mut blocks = source.blocks(&view.files, Some(run.within(range)), range).past_the_cache();
        let mut last = Vec::new();
        loop {
            match self.check_next_block(&mut blocks, range, &mut last) {
                Ok(true) => {}
                Ok(false) => return,
                // Stops at the first damaged block, after which the index is not reliable.
                Err(error) => return self.report(error.to_string()),
            }
        }
    }

    /// Checks the next block. Returns false after the last block.
    fn check_next_block(
        &mut self,
        blocks: &mut RunCursor,
        range: &StoredRange,
        last: &mut Vec<u8>,
    ) -> StoreResult<bool> {
        let Some(block) = blocks.next_block()? else { return Ok(false) };
        let data = block.read(Caching::Bypass)?;
        self.check_block(&block, &data, range, last)?;
        if last.as_slice() != block.end_key() {
            self.report(format!("{}: the index tells another last key", block.place()));
        }
        Ok(!range.is_past(block.end_key()))
    }

    fn check_block(
        &mut self,
        block: &RunBlock<'_>,
        data: &DataBlock,
        range: &StoredRange,
        last: &mut Vec<u8>,
    ) -> StoreResult<()> {
        let damaged = |damage| block.damaged(damage);
        let mut entries = Entries::new(&data.bytes, &data.trailer).map_err(damaged)?;
        while let Some(entry) = entries.next_entry().map_err(damaged)? {
            if compare_key(entry.head, entry.rest, last).is_lt() {
                self.report(format!("{}: keys out of order", block.place()));
            }
            last.clear();
            last.extend_from_slice(entry.head);
            last.extend_from_slice(entry.rest);
            if !range.contains(last) {
                continue;
            }
            self.bytes += (last.len() + entry.value.len()) as u64;
            if !entry.tombstone
                && let Some(error) = self.damage(entry.value)
            {
                self.report(format!("{}: row {}: {error}", block.place(), hex(last)));
            }
        }
        Ok(())
    }

    /// Counts rows, including those in memtables.
    fn count_rows(&mut self, source: &ReadSource, range: &StoredRange) {
        let counted = RangeIterator::open(source, range, false).visit(|key, fragment| {
            self.rows += 1;
            if let Some(error) = self.damage(fragment) {
                self.report(format!("row {}: {error}", hex(key)));
            }
        });
        if let Err(error) = counted {
            self.report(StoreError::to_string(&error));
        }
    }

    fn report(&mut self, problem: String) {
        if self.problems.len() < LISTED {
            self.problems.push(problem);
        }
    }
}

fn hex(key: &[u8]) -> String {
    key.iter().map(|byte| format!("{byte:02x}")).collect()
}
