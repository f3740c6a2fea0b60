//! Reads a range forward, block by block: several times as fast as the merging iterator.
//!
//! ```text
//!   base run   [a .. f][g .. m][n .. t][u .. z]        blocks, by the last key of each
//!   overlay          h       (tombstone of o)          newest visible versions outside the base run
//!   range        c <= key < w
//!              bounded  merged  merged  bounded        the others are read alone: no key is compared
//! ```
//! A block that is read alone lends its fragments to the batch, which then owns the block. Fragments of merged and
//! bounded blocks, which are few, are copied. If every entry of a table is one row, rows that are only counted are not
//! read: the block or the table's metadata contains their number.

use super::ReadSource;
use super::blocks::{
    DataBlock, Entries, Entry, Malformed, Overlay, RunBlock, RunCursor, ScanCaching, View, compare_key,
};
use super::output::{BlockWalk, Output};
use super::range::StoredRange;
use store::StoreResult;

/// The cost in rows of a block whose rows are not read, for the length of a turn.
const ROWS_PER_BLOCK: usize = 8;

/// A scan of one range.
pub(crate) struct BlockScan {
    range: StoredRange,
    cursor: RunCursor,
    overlay: Overlay,
    caching: ScanCaching,
    prefix_len: usize,
    /// Whether the next block is the first one, which may begin before the range.
    first: bool,
    /// Whether the base run is finished, so that only the overlay remains.
    base_done: bool,
    versions: Versions,
}

/// State that is carried from block to block.
#[derive(Default)]
struct Versions {
    /// The last key with a visible version: entries of the next block may be older versions of it.
    last: Vec<u8>,
}

impl BlockScan {
    /// Positions at the first key of `range`.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn open(source: &ReadSource, view: &View, range: StoredRange) -> StoreResult<Self> {
        let (base, rest) = view.base_and_rest(&range);
        let cursor = source.blocks(&view.files, base, &range);
        let overlay = Overlay::open(source, view, rest, &range)?;
        let prefix_len = source.prefix.len();
        let versions = Versions::default();
        let caching = ScanCaching::new(&source.views.scans, view);
        Ok(Self { range, cursor, overlay, caching, prefix_len, first: true, base_done: false, versions })
    }

    /// Number of row sources that were positioned besides the base run.
    pub(crate) fn overlay_sources(&self) -> usize {
        self.overlay.source_count()
    }

    /// Reads about `rows` rows. Returns false at the end of the range.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn read(&mut self, rows: usize, output: &mut Output) -> StoreResult<bool> {
        let mut left = rows;
        while left > 0 {
            if output.is_full() {
                return Ok(true);
            }
            let before = output.counters.rows_read;
            if self.base_done {
                let Some(change) = self.overlay.take_if(|_| true)? else { return Ok(false) };
                output.push_change(&change, self.prefix_len);
            } else if !(output.only_counts() && self.count_table(output)?) {
                self.read_block(output)?;
            }
            let looked_at = usize::try_from(output.counters.rows_read - before).unwrap_or(usize::MAX);
            left = left.saturating_sub(looked_at.max(ROWS_PER_BLOCK));
        }
        Ok(true)
    }

    /// Counts a whole table by its metadata, if that is exact. Returns whether it did.
    fn count_table(&mut self, output: &mut Output) -> StoreResult<bool> {
        let (range, overlay) = (&self.range, &self.overlay);
        let fits = |min: &[u8], max: &[u8]| {
            range.covers(min, max) && overlay.peek().is_none_or(|change| &change.key[..] > max)
        };
        let Some(items) = self.cursor.skip_plain_table(fits)? else { return Ok(false) };
        self.first = false;
        output.push_count(items);
        Ok(true)
    }

    fn read_block(&mut self, output: &mut Output) -> StoreResult<()> {
        let Some(block) = self.cursor.next_block()? else {
            self.base_done = true;
            return Ok(());
        };
        let borders = Borders {
            start: self.first.then_some(&self.range.start),
            end: self.range.end.as_ref().filter(|_| self.range.is_past(block.end_key())),
        };
        self.first = false;
        let touched = self.overlay.peek().is_some_and(|change| &change.key[..] <= block.end_key());
        let data = block.scan(&mut self.caching)?;
        let alone = borders.start.is_none() && borders.end.is_none() && !touched;
        if alone && block.plain && output.only_counts() {
            output.push_count(u64::from(data.trailer.items));
            return Ok(());
        }
        let mut walk = output.begin_block(&data, self.prefix_len);
        if alone {
            self.versions.walk_alone(&block, &data, &mut walk)?;
        } else {
            let merge = Merge { block: &block, data: &data, overlay: &mut self.overlay };
            self.base_done = !merge.run(&borders, &mut self.versions, &mut walk)?;
        }
        walk.finish();
        Ok(())
    }
}

impl Versions {
    /// Returns true if this is the newest visible version of its key. Must be called for each entry in order.
    #[inline]
    fn is_newest<'a>(&mut self, entry: &Entry<'a>, visible_below: u64, newest: &mut Option<Entry<'a>>) -> bool {
        if entry.seqno >= visible_below {
            return false;
        }
        let repeated = match newest {
            Some(newest) => newest.has_key_of(entry),
            None => compare_key(entry.head, entry.rest, &self.last).is_eq(),
        };
        if !repeated {
            *newest = Some(*entry);
        }
        !repeated
    }

    /// Ends a block. `newest` is the last entry with a visible version.
    fn end_block(&mut self, newest: Option<Entry<'_>>) {
        if let Some(entry) = newest {
            self.last.clear();
            self.last.extend_from_slice(entry.head);
            self.last.extend_from_slice(entry.rest);
        }
    }

    /// Reads a block that lies in the range and that no overlay entry changes.
    fn walk_alone(&mut self, block: &RunBlock<'_>, data: &DataBlock, walk: &mut BlockWalk<'_>) -> StoreResult<()> {
        let damaged = |damage: Malformed| block.damaged(damage);
        let mut entries = Entries::new(&data.bytes, &data.trailer).map_err(damaged)?;
        if block.plain {
            while !walk.is_exhausted()
                && let Some(entry) = entries.next_entry().map_err(damaged)?
            {
                walk.push(&entry);
            }
            return Ok(());
        }
        let mut newest = None;
        while let Some(entry) = entries.next_entry().map_err(damaged)? {
            if self.is_newest(&entry, block.visible_below, &mut newest) && !entry.tombstone {
                walk.push(&entry);
            }
        }
        self.end_block(newest);
        Ok(())
    }
}

/// The bounds of the range that lie in a block.
struct Borders<'a> {
    start: Option<&'a Vec<u8>>,
    end: Option<&'a Vec<u8>>,
}

/// Merges a block that contains a bound of the range, or keys that the overlay changes.
///
/// Keys are compared only in restart intervals that contain a bound or a change.
struct Merge<'a, 'b> {
    block: &'a RunBlock<'b>,
    data: &'a DataBlock,
    overlay: &'a mut Overlay,
}

impl Merge<'_, '_> {
    /// Reads the block and the changes up to its last key. Returns false if the range ends in the block.
    fn run(mut self, borders: &Borders<'_>, versions: &mut Versions, walk: &mut BlockWalk<'_>) -> StoreResult<bool> {
        let (block, data) = (self.block, self.data);
        let damaged = |damage: Malformed| block.damaged(damage);
        let mut entries = match borders.start {
            Some(start) => Entries::seek(&data.bytes, &data.trailer, start),
            None => Entries::new(&data.bytes, &data.trailer),
        }
        .map_err(damaged)?;
        let end_from = borders.end.map_or(Ok(u32::MAX), |end| self.below(end))?;
        let mut change_from = self.next_change()?;
        let (mut start, mut newest) = (borders.start, None);
        while let Some(entry) = entries.next_entry().map_err(damaged)? {
            let position = data.trailer.items - entries.left() - 1;
            if !block.plain && !versions.is_newest(&entry, block.visible_below, &mut newest) {
                continue;
            }
            if start.is_some_and(|start| compare_key(entry.head, entry.rest, start).is_lt()) {
                continue;
            }
            start = None;
            if position >= end_from && borders.end.is_some_and(|end| compare_key(entry.head, entry.rest, end).is_ge()) {
                self.push_changes(|_| true, walk)?;
                return Ok(false);
            }
            if position < change_from {
                if !entry.tombstone {
                    walk.push(&entry);
                }
            } else if self.merge_entry(&entry, walk)? {
                change_from = self.next_change()?;
            }
            if walk.is_exhausted() {
                return Ok(true);
            }
        }
        versions.end_block(newest);
        // Pushes the remaining changes up to the end of the block, so that they do not touch the next block.
        self.push_changes(|key| key <= block.end_key(), walk)?;
        Ok(true)
    }

    /// The position from which entries must be compared with the next change.
    fn next_change(&self) -> StoreResult<u32> {
        match self.overlay.peek() {
            Some(change) if &change.key[..] <= self.block.end_key() => self.below(&change.key),
            _ => Ok(u32::MAX),
        }
    }

    fn below(&self, key: &[u8]) -> StoreResult<u32> {
        let below = Entries::below(&self.data.bytes, &self.data.trailer, key);
        below.map_err(|damage| self.block.damaged(damage))
    }

    /// Pushes the changes before `entry`, then the newer of the entry and a change of its key. Returns whether a change
    /// was pushed.
    fn merge_entry(&mut self, entry: &Entry<'_>, walk: &mut BlockWalk<'_>) -> StoreResult<bool> {
        let mut taken = self.push_changes(|key| compare_key(entry.head, entry.rest, key).is_gt(), walk)?;
        let mut replaced = false;
        if let Some(change) = self.overlay.take_if(|key| compare_key(entry.head, entry.rest, key).is_eq())? {
            taken = true;
            replaced = change.seqno >= entry.seqno.saturating_add(self.block.base_seqno);
            if replaced {
                walk.push_change(&change);
            }
        }
        if !replaced && !entry.tombstone {
            walk.push(entry);
        }
        Ok(taken)
    }

    fn push_changes(&mut self, wanted: impl Fn(&[u8]) -> bool, walk: &mut BlockWalk<'_>) -> StoreResult<bool> {
        let mut taken = false;
        while !walk.is_exhausted()
            && let Some(change) = self.overlay.take_if(&wanted)?
        {
            walk.push_change(&change);
            taken = true;
        }
        Ok(taken)
    }
}
