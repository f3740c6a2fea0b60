//! Reading a range by lsm-tree's merging iterator: the plain way, for what blocks cannot serve.

use super::ReadSource;
use super::blocks::Rows;
use super::output::Output;
use super::range::StoredRange;
use crate::error::storage;
use fjall::Slice;
use store::StoreResult;

/// One range under way. It holds the version of the tree that it reads, and no snapshot.
pub(crate) struct RangeIterator {
    rows: Rows,
    reverse: bool,
}

impl RangeIterator {
    /// Positions at the first key of `range`, or at its last.
    pub(crate) fn open(source: &ReadSource, range: &StoredRange, reverse: bool) -> Self {
        Self { rows: source.image().rows(range, source.seqno()), reverse }
    }

    /// Looks at up to `rows` rows; `false` when the range is at its end.
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

    /// Visits the rest of the range: stored key and fragment of each row.
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
