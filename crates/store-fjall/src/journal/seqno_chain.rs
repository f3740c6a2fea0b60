//! Checks the sequence numbers of the batches in the journals.
//!
//! fjall's checksum of a batch leaves out the sequence number in front of it (3.1.13), and with another number its
//! rows may be left out of the replay, or win over newer ones. fjall gives the numbers, one to each batch and, in
//! between, one to each flush, compaction, ingestion and record of a keyspace: mostly they grow by one from batch to
//! batch. When they may not, the store writes a mark into the batch behind the gap, where the checksum covers it:
//!
//! ```text
//!   batch      no mark     no mark        mark {previous: [low, after), low}         no mark
//!   number     s1          s1 + 1         any from low on; the one before lay        exactly low of the mark,
//!                                         in low..after of this mark                 or a mark would follow
//! ```
//! What lies between `low` and `after` of a batch was given to nobody whose rows are read: any number there gives the
//! same rows. The last batch is only checked against `low`, and by the watermark, which names the number at its end.

use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The mark in a batch: a record of the meta keyspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SeqnoMark {
    /// The number of the batch before this one lies here; `None` when it is not known.
    pub(crate) previous: Option<Range<u64>>,
    /// That of this batch is not below.
    pub(crate) low: u64,
}

/// Which batch has a number that cannot be its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    This,
    Previous,
}

/// Follows the batches of all journals, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    /// Are marks demanded? Versions before wrote none.
    strict: bool,
    last: Option<Last>,
}

#[derive(Clone, Copy, Debug)]
struct Last {
    seqno: u64,
    /// What it must be, unless the next batch has a mark.
    low: Option<u64>,
}

impl Chain {
    /// From here on every gap has its mark.
    pub(crate) fn begin_strict(&mut self) {
        self.strict = true;
    }

    /// The next batch.
    ///
    /// # Errors
    /// The batch whose number is wrong.
    pub(crate) fn next(&mut self, seqno: u64, mark: Option<&SeqnoMark>) -> Result<(), Wrong> {
        let low = match mark {
            Some(mark) => {
                self.strict = true;
                match (self.last, &mark.previous) {
                    (Some(last), Some(range)) if !range.contains(&last.seqno) => return Err(self.blame_previous()),
                    _ => Some(mark.low),
                }
            }
            None if self.strict => self.follows()?,
            None => None,
        };
        // Numbers above 2^63 are no numbers of batches.
        if low.is_some_and(|low| seqno < low) || seqno > u64::MAX >> 1 {
            return Err(Wrong::This);
        }
        self.last = Some(Last { seqno, low });
        Ok(())
    }

    /// It is not to be followed by anything.
    fn blame_previous(&mut self) -> Wrong {
        self.last = None;
        Wrong::Previous
    }

    /// The number after the last one, which has no mark behind it.
    fn follows(&mut self) -> Result<Option<u64>, Wrong> {
        match self.last {
            Some(Last { seqno, low: Some(low) }) if seqno != low => Err(self.blame_previous()),
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

    /// Numbers as a store writes them: gaps before, between and inside commits.
    fn written() -> Vec<Batch> {
        vec![
            (10, mark(None, 10)),
            (11, None),
            (12, None),
            // A flush ended while this was written: it may be 13 or 14.
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
                // 13 or 14 is all the same: nobody else's rows have these numbers.
                let same = batch.0 == wrong || (at == 3 && wrong == 13);
                batch.0 = wrong;
                let found = check(&batches);
                let named = match found {
                    Err((found, Wrong::This)) => Some(found),
                    Err((found, Wrong::Previous)) => found.checked_sub(1),
                    Ok(()) => None,
                };
                assert_eq!(found.is_ok(), same, "batch {at} with {wrong}");
                // Sometimes the one before is blamed: what it should have been is not known without the next.
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
