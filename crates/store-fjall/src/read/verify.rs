//! Checking what is on disk: every block of every table that holds rows of a source, past the cache.

use super::ReadSource;
use super::blocks::{Caching, DataBlock};
use super::blocks::{Entries, Run, RunBlock, RunCursor, View, compare_key};
use super::iterate::RangeIterator;
use super::range::StoredRange;
use fragment::{FragmentError, header};
use store::{KeyRange, StoreError, StoreResult};

/// Problems that are listed one by one; more of them say nothing new.
const LISTED: usize = 100;

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verified {
    /// Rows at the snapshot.
    pub(crate) rows: u64,
    /// Bytes of keys and fragments read from disk: old versions are counted too.
    pub(crate) bytes: u64,
    /// One line for each thing that is wrong.
    pub(crate) problems: Vec<String>,
    /// Values are the store's own records, and no fragments.
    records: bool,
}

/// Checks checksums, key order and fragment headers of all that is stored for `source`, and counts its rows.
///
/// # Errors
/// None at present: what is wrong is in the report.
pub(crate) fn verify(source: &ReadSource) -> StoreResult<Verified> {
    Verified::default().of(source)
}

/// As [`verify`] for a keyspace with records.
///
/// # Errors
/// As there.
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

    /// What is wrong with a value.
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
                // The index may lead on to the next block, but after damage its word is worth little.
                Err(error) => return self.report(error.to_string()),
            }
        }
    }

    /// `false` behind the last block.
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

    /// Rows in memtables are read here too.
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
