//! Reads a range backward, block by block, if there is nothing to merge: all entries of the range are in one run, and
//! each is a row. Otherwise the iterator is used.

use super::ReadSource;
use super::blocks::{DataBlock, Entries, Malformed, ReverseCursor, ScanCaching, View, compare_key};
use super::output::Output;
use super::range::StoredRange;
use store::StoreResult;

/// A backward scan of one range.
pub(crate) struct ReverseScan {
    range: StoredRange,
    blocks: ReverseCursor,
    caching: ScanCaching,
    /// Whether the next block is the first one, in which the range may end.
    first: bool,
    block: Option<OpenBlock>,
    prefix_len: usize,
}

struct OpenBlock {
    data: DataBlock,
    /// Restart intervals of the block that are not read yet.
    intervals: u32,
}

impl ReverseScan {
    /// Positions at the last key of `range`. `None` if the range needs merging.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn open(source: &ReadSource, view: &View, range: &StoredRange) -> StoreResult<Option<Self>> {
        let (base, rest) = view.base_and_rest(range);
        if !rest.is_empty() || view.memtable_has_any(range) {
            return Ok(None);
        }
        let blocks = ReverseCursor::new(&view.files, base, range.end.as_deref(), source.seqno())?;
        Ok(blocks.map(|blocks| Self {
            range: range.clone(),
            blocks,
            caching: ScanCaching::new(&source.views.scans, view),
            first: true,
            block: None,
            prefix_len: source.prefix.len(),
        }))
    }

    /// Reads about `rows` rows. Returns false at the end of the range.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn read(&mut self, rows: usize, output: &mut Output) -> StoreResult<bool> {
        let until = output.counters.rows_read.saturating_add(rows as u64);
        while output.counters.rows_read < until {
            if output.is_full() {
                return Ok(true);
            }
            let Some(mut block) = self.block.take().filter(|block| block.intervals > 0) else {
                if !self.open_block()? {
                    return Ok(false);
                }
                continue;
            };
            block.intervals -= 1;
            let goes_on = self.read_interval(&block, output).map_err(|damage| self.blocks.damaged(damage))?;
            if !goes_on {
                return Ok(false);
            }
            self.block = Some(block);
        }
        Ok(true)
    }

    fn open_block(&mut self) -> StoreResult<bool> {
        let Some(data) = self.blocks.next_block(&mut self.caching)? else { return Ok(false) };
        let intervals = match &self.range.end {
            Some(end) if self.first => Entries::intervals_below(&data.bytes, &data.trailer, end)
                .map_err(|damage| self.blocks.damaged(damage))?,
            _ => data.trailer.intervals(),
        };
        self.first = false;
        self.block = Some(OpenBlock { data, intervals });
        Ok(true)
    }

    /// Pushes the rows of one restart interval. Returns false if the range begins in it.
    fn read_interval(&self, block: &OpenBlock, output: &mut Output) -> Result<bool, Malformed> {
        let mut entries = Entries::interval(&block.data.bytes, &block.data.trailer, block.intervals)?;
        let mut inside = Vec::with_capacity(entries.left() as usize);
        let mut begins = false;
        while let Some(entry) = entries.next_entry()? {
            if compare_key(entry.head, entry.rest, &self.range.start).is_lt() {
                begins = true;
            } else if self.range.end.as_ref().is_some_and(|end| compare_key(entry.head, entry.rest, end).is_ge()) {
                break;
            } else {
                inside.push(entry);
            }
        }
        let mut walk = output.begin_block(&block.data, self.prefix_len);
        for entry in inside.iter().rev() {
            if walk.is_exhausted() {
                break;
            }
            walk.push(entry);
        }
        walk.finish();
        Ok(!begins)
    }
}
