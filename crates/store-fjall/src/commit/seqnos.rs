//! Writes batches to fjall, with a mark where their sequence numbers may leave a gap (`seqno_chain.rs`).

use crate::meta;
use crate::seam::Mutex;
use crate::seqno_chain::SeqnoMark;
use fjall::{Database, Keyspace, OwnedWriteBatch, PersistMode};
use std::ops::Range;

/// Where the numbers stand. Its lock is never waited for: whoever takes it holds the commit lock.
pub(crate) struct Seqnos {
    /// The number of the last batch lies here.
    last: Mutex<Option<Range<u64>>>,
}

impl Seqnos {
    /// After an opening that found this number in the last batch.
    pub(crate) fn new(last: Option<u64>) -> Self {
        Self { last: Mutex::new(last.map(|last| last..last + 1)) }
    }

    /// Writes a batch. The caller holds the commit lock.
    ///
    /// # Errors
    /// Those of fjall; the outcome is unknown.
    pub(crate) fn write(&self, db: &Database, meta: &Keyspace, batch: OwnedWriteBatch) -> fjall::Result<()> {
        let mut last = self.last.lock();
        let low = db.seqno();
        let follows = last.as_ref().is_some_and(|last| last.end - last.start == 1 && last.end == low);
        let mark = (!follows).then(|| SeqnoMark { previous: last.clone(), low });
        *last = Some(write(db, meta, batch, low, mark)?);
        Ok(())
    }

    /// Writes a mark alone: before a number is taken for rows that are in no journal, so that the batch before them
    /// is not the last one. The caller holds the commit lock.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub(crate) fn write_mark(&self, db: &Database, meta: &Keyspace) -> fjall::Result<()> {
        let mut last = self.last.lock();
        let low = db.seqno();
        let mark = Some(SeqnoMark { previous: last.clone(), low });
        *last = Some(write(db, meta, OwnedWriteBatch::with_capacity(db.clone(), 1), low, mark)?);
        Ok(())
    }
}

/// Returns where the number of the batch lies.
fn write(
    db: &Database,
    meta: &Keyspace,
    mut batch: OwnedWriteBatch,
    low: u64,
    mark: Option<SeqnoMark>,
) -> fjall::Result<Range<u64>> {
    if let Some(mark) = mark {
        meta::put_seqno_mark(&mut batch, meta, &mark);
    }
    batch.durability(Some(PersistMode::Buffer)).commit()?;
    Ok(low..db.seqno())
}
