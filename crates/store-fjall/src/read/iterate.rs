//! Reads a range with lsm-tree's merging iterator, where block scans are not possible.

use super::ReadSource;
use super::blocks::Rows;
use super::output::Output;
use super::range::StoredRange;
use crate::error::storage;
use fjall::Slice;
use store::StoreResult;

/// A scan of one range. It holds the tree version that it reads, but no fjall snapshot.
pub(crate) struct RangeIterator {
    rows: Rows,
    reverse: bool,
}

impl RangeIterator {
    /// Positions at the first key of `range`, or at the last if `reverse`.
    pub(crate) fn open(source: &ReadSource, range: &StoredRange, reverse: bool) -> Self {
        Self { rows: source.image().rows(range, source.seqno()), reverse }
    }

    /// Reads up to `rows` rows. Returns false at the end of the range.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn read(&mut self, rows: usize, prefix_len: usize, output: &mut Output) -> StoreResult<bool> {
        for _ in 0..rows {
            if output.is_full() {
                return Ok(true);
            }
            let Some((key, fragment)) = self.advance()? else { return Ok(false) };
            output.push(key.get(prefix_len..).unwrap_or_default(), &[], &fragment);
        }
        Ok(true)
    }

    /// Visits the remaining rows with stored key and fragment.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn visit(mut self, mut visit: impl FnMut(&[u8], &[u8])) -> StoreResult<()> {
        while let Some((key, fragment)) = self.advance()? {
            visit(&key, &fragment);
        }
        Ok(())
    }

    fn advance(&mut self) -> StoreResult<Option<(Slice, Slice)>> {
        let row = if self.reverse { self.rows.next_back() } else { self.rows.next() };
        row.transpose().map_err(|error| storage("scanning rows")(&error))
    }
}
