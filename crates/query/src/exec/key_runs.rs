//! Runs of rows in key order that share a key prefix, so that one check of the prefix holds for the whole run.
//!
//! ```text
//!   lineitem   | 7,1 | 7,2 | 7,3 | 8,1 | 9,1 | 9,2 |      `l_orderkey IN (...)` is checked on one row per order
//! ```

use arrow::array::BooleanBufferBuilder;
use arrow::buffer::BooleanBuffer;
use store::{RowBatch, RowBatchBuilder};

/// The runs of a batch.
pub(super) struct KeyRuns {
    /// The key of the first row of each run, without a fragment.
    pub(super) firsts: RowBatch,
    /// The end of each run, as a row number.
    ends: Vec<usize>,
}

impl KeyRuns {
    /// The runs of rows that share the first `prefix` bytes of their keys; `None` if there are so many runs that
    /// checking each row costs the same.
    pub(super) fn of(rows: &RowBatch, prefix: usize) -> Option<Self> {
        // Comparing one integer is faster than comparing bytes.
        match prefix {
            4 => Self::by(rows, |key| key.first_chunk::<4>()),
            8 => Self::by(rows, |key| key.first_chunk::<8>()),
            _ => Self::by(rows, |key| key.get(..prefix)),
        }
    }

    fn by<'r, T: PartialEq>(rows: &'r RowBatch, begin_of: impl Fn(&'r [u8]) -> Option<T>) -> Option<Self> {
        let most = rows.len() / 2;
        if most == 0 {
            return None;
        }
        let mut firsts = RowBatchBuilder::with_capacity(most, false, true);
        let (mut ends, mut last) = (Vec::with_capacity(most), None);
        for (row, key) in rows.keys().enumerate() {
            let begin = begin_of(key)?;
            if last.as_ref() != Some(&begin) {
                if firsts.len() == most {
                    return None;
                }
                if last.is_some() {
                    ends.push(row);
                }
                firsts.push_rows(1);
                firsts.push_key(key, &[]);
                last = Some(begin);
            }
        }
        ends.push(rows.len());
        Some(Self { firsts: firsts.finish(), ends })
    }

    /// Expands the results for the first rows to all rows.
    pub(super) fn spread(&self, firsts: &BooleanBuffer) -> BooleanBuffer {
        let rows = self.ends.last().copied().unwrap_or_default();
        let (mut all, mut begin) = (BooleanBufferBuilder::new(rows), 0);
        for (passes, end) in firsts.iter().zip(&self.ends) {
            all.append_n(end - begin, passes);
            begin = *end;
        }
        all.finish()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn batch(keys: &[&str]) -> RowBatch {
        let mut rows = RowBatchBuilder::with_capacity(keys.len(), false, true);
        for key in keys {
            rows.push_rows(1);
            rows.push_key(key.as_bytes(), &[]);
        }
        rows.finish()
    }

    #[test]
    fn a_verdict_on_the_first_row_of_a_run_is_that_on_each_of_its_rows() {
        let keys = ["aa1", "aa2", "aa3", "ab1", "ab1", "ac1", "ac2", "aa1"];
        let rows = batch(&keys);
        let runs = KeyRuns::of(&rows, 2).unwrap();
        assert_eq!(runs.firsts.keys().collect::<Vec<_>>(), [b"aa1", b"ab1", b"ac1", b"aa1"]);
        let passes = |key: &[u8]| key.get(1) != Some(&b'b');
        let firsts: BooleanBuffer = runs.firsts.keys().map(passes).collect();
        let all: BooleanBuffer = rows.keys().map(passes).collect();
        assert_eq!(runs.spread(&firsts), all);
    }

    #[test]
    fn rows_with_few_neighbours_are_judged_one_by_one() {
        assert!(KeyRuns::of(&batch(&["aa", "ab", "ac", "ac"]), 2).is_none());
        assert!(KeyRuns::of(&batch(&["aa", "b"]), 2).is_none(), "a key that is too short");
        assert!(KeyRuns::of(&batch(&[]), 2).is_none());
    }
}
