//! Reading a long range forward, block by block: several times as fast as the merging iterator.
//!
//! ```text
//!   base run   [a .. f][g .. m][n .. t][u .. z]        blocks, by the last key of each
//!   overlay          h       (tombstone of o)          newest visible versions outside the base run
//!   range        c <= key < w
//!              bounded  merged  merged  bounded        the others are walked alone: no key is compared
//! ```
//! A block that is walked alone lends its fragments to the batch, which owns the block. Fragments of the
//! others, which are few, are copied. Where every entry of a table is one row, rows that are only
//! counted are not even read: the number stands in the block, or in the table's metadata.

use super::ReadSource;
use super::blocks::{
    Caching, Change, DataBlock, Entries, Entry, Malformed, Overlay, RunBlock, RunCursor, View, compare_key,
};
use super::output::Output;
use super::range::StoredRange;
use std::cmp::Ordering;
use store::StoreResult;

/// Turns are counted in rows; a block whose rows are not looked at costs as much as these.
const ROWS_PER_BLOCK: usize = 8;

/// One range under way.
pub(crate) struct BlockScan {
    range: StoredRange,
    cursor: RunCursor,
    overlay: Overlay,
    caching: Caching,
    prefix_len: usize,
    /// Is the block to be read the first? It may begin before the range.
    first: bool,
    /// Is the base run at its end? Then the rest of the overlay remains.
    base_done: bool,
    merge: Merge,
}

/// What a walk carries from block to block.
#[derive(Default)]
struct Merge {
    /// The last key of which a version was visible: entries of the next block may be older versions of it.
    last: Vec<u8>,
}

impl BlockScan {
    /// Positions at the first key of `range`. `view` is without its base run, which is behind `cursor`.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn open(
        source: &ReadSource,
        view: &View,
        cursor: RunCursor,
        range: StoredRange,
        caching: Caching,
    ) -> StoreResult<Self> {
        let overlay = Overlay::open(view, &range, source.snapshot.seqno())?;
        let prefix_len = source.prefix.len();
        let merge = Merge::default();
        Ok(Self { range, cursor, overlay, caching, prefix_len, first: true, base_done: false, merge })
    }

    /// Sources of rows that were positioned besides the base run.
    pub(crate) fn overlay_sources(&self) -> usize {
        self.overlay.source_count()
    }

    /// Looks at about `rows` rows; `false` when the range is at its end.
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
                push_change(&change, self.prefix_len, output);
            } else if !(output.only_counts() && self.count_table(output)?) {
                self.read_block(output)?;
            }
            let looked_at = usize::try_from(output.counters.rows_read - before).unwrap_or(usize::MAX);
            left = left.saturating_sub(looked_at.max(ROWS_PER_BLOCK));
        }
        Ok(true)
    }

    /// Counts a whole table by its metadata, if that is exact.
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
        let bounded = self.first || self.range.is_past(block.end_key());
        self.first = false;
        let touched = self.overlay.peek().is_some_and(|change| &change.key[..] <= block.end_key());
        let data = block.read(self.caching)?;
        if !bounded && !touched {
            return walk_alone(&block, &data, self.prefix_len, &mut self.merge, output);
        }
        let within = self.merge.walk_merged(&block, &data, &self.range, self.prefix_len, &mut self.overlay, output)?;
        self.base_done = !within;
        Ok(())
    }
}

fn push_change(change: &Change, prefix_len: usize, output: &mut Output) {
    if let Some(fragment) = &change.fragment {
        output.push(change.key.get(prefix_len..).unwrap_or_default(), &[], fragment);
    }
}

/// A block that lies in the range and that no change touches.
fn walk_alone(
    block: &RunBlock<'_>,
    data: &DataBlock,
    prefix_len: usize,
    merge: &mut Merge,
    output: &mut Output,
) -> StoreResult<()> {
    if block.plain && output.only_counts() {
        output.push_count(u64::from(data.trailer.items));
        return Ok(());
    }
    let damaged = |damage: Malformed| block.damaged(damage);
    let mut entries = Entries::new(&data.bytes, &data.trailer).map_err(damaged)?;
    let mut walk = output.begin_block(prefix_len);
    let walked = if block.plain {
        walk_plain(&mut entries, |entry| walk.push(entry))
    } else {
        merge.walk_versions(&mut entries, block.visible_below, |entry| {
            if !entry.tombstone {
                walk.push(entry);
            }
            Ok(true)
        })
    };
    let rows = walk.finish();
    walked.map_err(damaged)?;
    output.end_block(data, rows);
    Ok(())
}

/// Entries of a table in which each is a row.
#[inline]
fn walk_plain<'a>(entries: &mut Entries<'a>, mut push: impl FnMut(&Entry<'a>)) -> Result<(), Malformed> {
    while let Some(entry) = entries.next_entry()? {
        push(&entry);
    }
    Ok(())
}

impl Merge {
    /// Visits the newest visible version of each key, tombstones too, until `visit` says `false`.
    #[inline]
    fn walk_versions<'a>(
        &mut self,
        entries: &mut Entries<'a>,
        visible_below: u64,
        mut visit: impl FnMut(&Entry<'a>) -> Result<bool, Malformed>,
    ) -> Result<(), Malformed> {
        let mut newest: Option<Entry<'a>> = None;
        while let Some(entry) = entries.next_entry()? {
            if entry.seqno >= visible_below {
                continue;
            }
            let repeated = match &newest {
                Some(newest) => newest.has_key_of(&entry),
                None => compare_key(entry.head, entry.rest, &self.last).is_eq(),
            };
            if repeated {
                continue;
            }
            newest = Some(entry);
            if !visit(&entry)? {
                break;
            }
        }
        if let Some(entry) = newest {
            self.last.clear();
            self.last.extend_from_slice(entry.head);
            self.last.extend_from_slice(entry.rest);
        }
        Ok(())
    }

    /// A block at a border of the range, or with changes: row by row. `false` when the range ends in it.
    fn walk_merged(
        &mut self,
        block: &RunBlock<'_>,
        data: &DataBlock,
        range: &StoredRange,
        prefix_len: usize,
        overlay: &mut Overlay,
        output: &mut Output,
    ) -> StoreResult<bool> {
        let damaged = |damage: Malformed| block.damaged(damage);
        let mut entries = Entries::seek(&data.bytes, &data.trailer, &range.start).map_err(damaged)?;
        let mut within = true;
        let mut failed = Ok(());
        let walked = self.walk_versions(&mut entries, block.visible_below, |entry| {
            if compare_key(entry.head, entry.rest, &range.start).is_lt() {
                return Ok(true);
            }
            within = range.end.as_ref().is_none_or(|end| compare_key(entry.head, entry.rest, end).is_lt());
            if within {
                failed = merge_entry(entry, block.base_seqno, prefix_len, overlay, output);
            }
            Ok(within && failed.is_ok() && !output.is_exhausted())
        });
        walked.map_err(damaged)?;
        failed?;
        // What is left up to the end of the block goes now, so that the next block is untouched by it.
        while within
            && !output.is_exhausted()
            && let Some(change) = overlay.take_if(|key| key <= block.end_key())?
        {
            push_change(&change, prefix_len, output);
        }
        Ok(within)
    }
}

/// Takes the changes in front of `entry`, and then the newer of it and of a change of its key.
fn merge_entry(
    entry: &Entry<'_>,
    base_seqno: u64,
    prefix_len: usize,
    overlay: &mut Overlay,
    output: &mut Output,
) -> StoreResult<()> {
    while let Some(change) = overlay.take_if(|key| compare_key(entry.head, entry.rest, key).is_ge())? {
        let same_key = compare_key(entry.head, entry.rest, &change.key) == Ordering::Equal;
        if same_key && entry.seqno + base_seqno > change.seqno {
            break;
        }
        push_change(&change, prefix_len, output);
        if same_key {
            return Ok(());
        }
    }
    if !entry.tombstone {
        let (head, rest) = entry.key_behind(prefix_len);
        output.push(head, rest, entry.value);
    }
    Ok(())
}
