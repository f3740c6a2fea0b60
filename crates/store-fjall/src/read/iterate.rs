//! Reading a range by fjall's merging iterator: the plain way, for short ranges and reverse order.

use super::ReadSource;
use super::output::Output;
use super::range::StoredRange;
use crate::error::engine;
use fjall::{Guard, Readable};
use store::StoreResult;

/// One range under way.
pub(crate) struct RangeIterator {
    iter: fjall::Iter,
    reverse: bool,
}

impl RangeIterator {
    /// Positions at the first key of `range`, or at its last.
    pub(crate) fn open(source: &ReadSource, range: &StoredRange, reverse: bool) -> Self {
        Self { iter: source.snapshot.range::<&[u8], _>(&source.keyspace, range.bounds()), reverse }
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
            let Some(guard) = self.advance() else { return Ok(false) };
            let (key, fragment) = guard.into_inner().map_err(engine("scanning rows"))?;
            output.push(key.get(prefix_len..).unwrap_or_default(), &[], &fragment);
        }
        Ok(true)
    }

    /// Visits the rest of the range: stored key and fragment of each row.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn visit(mut self, mut visit: impl FnMut(&[u8], &[u8])) -> StoreResult<()> {
        while let Some(guard) = self.advance() {
            let (key, fragment) = guard.into_inner().map_err(engine("scanning rows"))?;
            visit(&key, &fragment);
        }
        Ok(())
    }

    fn advance(&mut self) -> Option<Guard> {
        if self.reverse { self.iter.next_back() } else { self.iter.next() }
    }
}
