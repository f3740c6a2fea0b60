//! Verifies the sequence numbers of the batches in the journals.
//!
//! fjall's checksum of a batch does not cover its sequence number (3.1.13). With a wrong number its rows may be skipped
//! in the replay or replace newer rows. fjall assigns one number to each batch and, in between, one to each flush,
//! compaction, ingestion and keyspace record, so numbers usually grow by one from batch to batch. Where they may not,
//! the store writes a mark into the batch after the gap, where the checksum covers it:
//!
//! ```text
//!   batch      no mark     no mark        mark {previous: [low, after), low}         no mark
//!   number     s1          s1 + 1         at least low; the one before was           exactly low of the mark,
//!                                         in low..after of this mark                 or a mark would follow
//! ```
//! Numbers in `low..after` of a batch belong to no other rows that are read, so any number in that range gives the same
//! result. The last batch is only checked against `low` and the watermark, which contains its number.

use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The mark in a batch: a record of the meta keyspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SeqnoMark {
    /// The range of the previous batch's number; `None` if unknown.
    pub(crate) previous: Option<Range<u64>>,
    /// Lower bound of this batch's number.
    pub(crate) low: u64,
}

/// The batch with the wrong number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    This,
    Previous,
}

/// Checks the batches of all journals, from the oldest.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    /// Whether gaps require marks. Older versions wrote none.
    strict: bool,
    last: Option<Last>,
}

#[derive(Clone, Copy, Debug)]
struct Last {
    seqno: u64,
    /// The only valid number, unless the next batch has a mark.
    low: Option<u64>,
}

impl Chain {
    /// Requires a mark at every gap from here on.
    pub(crate) fn begin_strict(&mut self) {
        self.strict = true;
    }

    /// Checks the next batch.
    ///
    /// # Errors
    /// The batch with the wrong number.
    pub(crate) fn next(&mut self, seqno: u64, mark: Option<&SeqnoMark>) -> Result<(), Wrong> {
        let low = match mark {
            Some(mark) => {
                self.strict = true;
                match (self.last, &mark.previous) {
                    (Some(last), Some(range)) if !range.contains(&last.seqno) => return Err(self.reject_previous()),
                    _ => Some(mark.low),
                }
            }
            None if self.strict => self.follows()?,
            None => None,
        };
        // Batches have no numbers of 2^63 and above.
        if low.is_some_and(|low| seqno < low) || seqno > u64::MAX >> 1 {
            return Err(Wrong::This);
        }
        self.last = Some(Last { seqno, low });
        Ok(())
    }

    /// Ends the chain at the previous batch.
    fn reject_previous(&mut self) -> Wrong {
        self.last = None;
        Wrong::Previous
    }

    /// The number after the last batch, which has no mark after it.
    fn follows(&mut self) -> Result<Option<u64>, Wrong> {
        match self.last {
            Some(Last { seqno, low: Some(low) }) if seqno != low => Err(self.reject_previous()),
            Some(Last { seqno, .. }) => Ok(Some(seqno.saturating_add(1))),
            None => Ok(None),
        }
    }

    /// The number of the last batch.
    pub(crate) fn last_seqno(&self) -> Option<u64> {
        self.last.map(|last| last.seqno)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    type Batch = (u64, Option<SeqnoMark>);

    fn mark(previous: Option<Range<u64>>, low: u64) -> Option<SeqnoMark> {
        Some(SeqnoMark { previous, low })
    }

    /// Numbers as a store writes them: gaps before, between and within commits.
    fn written() -> Vec<Batch> {
        vec![
            (10, mark(None, 10)),
            (11, None),
            (12, None),
            // A flush ended during this write: the number may be 13 or 14.
            (14, None),
            (15, mark(Some(13..15), 15)),
            // An ingestion took 16.
            (17, mark(Some(15..16), 17)),
            (18, None),
            (19, None),
        ]
    }

    fn check(batches: &[Batch]) -> Result<(), (usize, Wrong)> {
        let mut chain = Chain::default();
        for (at, (seqno, mark)) in batches.iter().enumerate() {
            chain.next(*seqno, mark.as_ref()).map_err(|wrong| (at, wrong))?;
        }
        Ok(())
    }

    #[test]
    fn what_was_written_is_right() {
        assert_eq!(check(&written()), Ok(()));
    }

    #[test]
    fn any_other_number_is_found_but_behind_the_last_batch() {
        for at in 0..written().len() - 1 {
            for wrong in (0..40).chain([1 << 40, 1 << 63, u64::MAX]) {
                let mut batches = written();
                let Some(batch) = batches.get_mut(at) else { continue };
                // 13 and 14 are equivalent: no other rows have these numbers.
                let same = batch.0 == wrong || (at == 3 && wrong == 13);
                batch.0 = wrong;
                let found = check(&batches);
                let named = match found {
                    Err((found, Wrong::This)) => Some(found),
                    Err((found, Wrong::Previous)) => found.checked_sub(1),
                    Ok(()) => None,
                };
                assert_eq!(found.is_ok(), same, "batch {at} with {wrong}");
                // The error may name the previous batch, whose correct number is unknown without the next.
                assert!(same || named.unwrap().abs_diff(at) <= 1, "batch {at} with {wrong}: {found:?}");
            }
        }
        for (low, wrong) in [(18, true), (19, false), (20, false), (1 << 63, true)] {
            let mut batches = written();
            batches.last_mut().unwrap().0 = low;
            assert_eq!(check(&batches).is_err(), wrong, "the last with {low}");
        }
    }

    #[test]
    fn batches_of_versions_before_are_not_judged_until_the_first_mark() {
        let batches = [(7, None), (3, None), (90, None), (50, mark(None, 50)), (51, None), (53, None), (54, None)];
        assert_eq!(check(&batches), Err((6, Wrong::Previous)));
    }
}
