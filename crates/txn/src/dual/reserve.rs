//! A unique value is reserved before the row that comes to it is written, by a row of the index whose key is the value alone
//! and which names the rowkey.
//!
//! ```text
//!   nothing there               put, if nothing is there
//!   names this row              put anew: whoever thought it stale has another stamp before him now
//!   names another row, which    has the value      no: it is taken
//!                               is not there       take it over, if it is as it was read
//!                               has it not (yet)   wait: a writer is at work; when that is old, rewrite that row
//!                                                  as it is, so that its writer fails, and take it over
//! ```

use super::layer::Shared;
use super::{has_mark, stamp_of};
use fragment::header::{self, RESERVED, VOID};
use std::collections::BTreeMap;
use std::time::Duration;
use store::{Bytes, CommitNo, Durability, EntryRows, StoreError, StoreResult, TableId};
use tokio::time::Instant;

/// Between two looks at a value that a writer is about to take or to leave.
const PAUSE: Duration = Duration::from_millis(2);
/// After so many times of the patience with writers the statement begins anew.
const PATIENCE_TIMES: u32 = 4;

/// A reservation that was made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reserved {
    pub(super) stamp: CommitNo,
    /// Had the row none before? Then nobody but the one who made it goes by it.
    pub(super) fresh: bool,
}

/// Rows that were rewritten as they are while values were reserved. A commit that is about to write one of them itself has
/// read it with the stamp from before.
#[derive(Debug, Default)]
pub(super) struct Rewritten(BTreeMap<(TableId, Bytes), Stamps>);

#[derive(Debug)]
struct Stamps {
    before: CommitNo,
    now: CommitNo,
}

impl Rewritten {
    /// The stamp of a row that was read with `read`.
    pub(super) fn stamp(&self, (table, key): (TableId, &Bytes), read: CommitNo) -> CommitNo {
        let stamps = self.0.get(&(table, key.clone())).filter(|stamps| stamps.before == read);
        stamps.map_or(read, |stamps| stamps.now)
    }

    fn note(&mut self, (table, key): (TableId, &Bytes), before: CommitNo, now: CommitNo) {
        let stamps = self.0.entry((table, key.clone())).or_insert(Stamps { before, now: before });
        match stamps.now == before {
            true => stamps.now = now,
            // Somebody else wrote it in between.
            false => *stamps = Stamps { before, now },
        }
    }
}

/// What another row has to do with a value that it has reserved.
enum Holder {
    /// It has it.
    Has,
    /// Nothing, and no writer is about to change that.
    Gone,
    /// A writer may be at work on it.
    Busy,
}

impl Shared {
    /// See the file's head.
    ///
    /// # Errors
    /// [`StoreError::ConditionFailed`] where another row has the value; the store's.
    pub(super) async fn reserve(
        &self,
        value: (TableId, &Bytes),
        entries: &dyn EntryRows,
        rowkey: &Bytes,
        durability: Durability,
        rewritten: &mut Rewritten,
    ) -> StoreResult<Reserved> {
        let began = Instant::now();
        // At least one attempt, however long the thread stood still before it.
        let mut attempts = 0;
        while attempts == 0 || began.elapsed() < self.patience * PATIENCE_TIMES {
            attempts += 1;
            let held = self.there(value.0, value.1).await?;
            let stamp = stamp_of(held.as_ref());
            let holder = holder_of(held.as_ref())?;
            let fresh = holder.is_none_or(|holder| holder != rowkey.as_ref());
            if let (Some(holder), Some(held), true) = (holder, &held, fresh) {
                let holder = Bytes::copy_from_slice(holder);
                match self.holder(value.1, (entries, &holder), self.is_old(held), rewritten).await? {
                    Holder::Has => break,
                    Holder::Gone => {}
                    Holder::Busy => {
                        tokio::time::sleep(PAUSE).await;
                        continue;
                    }
                }
            }
            if let Some(stamp) = self.swap(value, stamp, Some(reservation(rowkey)), durability).await? {
                return Ok(Reserved { stamp, fresh });
            }
        }
        Err(StoreError::ConditionFailed { table: value.0, key: value.1.clone() })
    }

    /// The reservation of a value that a row is about to leave, marked anew; `None`: it is another row's.
    pub(super) async fn mark_leaving(
        &self,
        value: (TableId, &Bytes),
        rowkey: &Bytes,
        durability: Durability,
    ) -> StoreResult<Option<CommitNo>> {
        loop {
            let held = self.there(value.0, value.1).await?;
            if holder_of(held.as_ref())? != Some(rowkey.as_ref()) {
                return Ok(None);
            }
            let marked = self.swap(value, stamp_of(held.as_ref()), Some(reservation(rowkey)), durability).await?;
            if marked.is_some() {
                return Ok(marked);
            }
        }
    }

    /// Deletes a reservation whose row has not the value.
    pub(super) async fn release_stale(
        &self,
        value: (TableId, &Bytes),
        entries: &dyn EntryRows,
        held: &Bytes,
    ) -> StoreResult<()> {
        let Some(holder) = holder_of(Some(held))? else { return Ok(()) };
        let holder = Bytes::copy_from_slice(holder);
        if let Holder::Gone = self.holder(value.1, (entries, &holder), true, &mut Rewritten::default()).await? {
            self.swap(value, header::commit_of(held), None, Durability::Buffered).await?;
        }
        Ok(())
    }

    async fn holder(
        &self,
        value: &Bytes,
        (entries, rowkey): (&dyn EntryRows, &Bytes),
        is_old: bool,
        rewritten: &mut Rewritten,
    ) -> StoreResult<Holder> {
        let row = (entries.rows(), rowkey);
        let Some(fragment) = self.there(row.0, row.1).await? else { return Ok(Holder::Gone) };
        let is_void = has_mark(Some(&fragment), VOID);
        if !is_void && let Some((key, _)) = entries.entry(rowkey, &fragment)? {
            let prefix = entries.unique_prefix(&key)?.and_then(|prefix| key.get(..prefix));
            if prefix == Some(value.as_ref()) {
                return Ok(Holder::Has);
            }
        }
        if !is_old {
            return Ok(Holder::Busy);
        }
        let again = if is_void { None } else { Some(fragment.to_vec()) };
        let before = header::commit_of(&fragment);
        let Some(now) = self.swap(row, before, again, Durability::Buffered).await? else { return Ok(Holder::Busy) };
        if let (Some(before), false) = (before, is_void) {
            rewritten.note(row, before, now);
        }
        Ok(Holder::Gone)
    }
}

/// The row that a reservation names.
fn holder_of(held: Option<&Bytes>) -> StoreResult<Option<&[u8]>> {
    let Some(held) = held else { return Ok(None) };
    match (header::marks_of(held) & RESERVED != 0, held.get(header::LEN..)) {
        (true, Some(rowkey)) => Ok(Some(rowkey)),
        _ => Err(StoreError::Corrupted { detail: "an entry stands where a unique value is reserved".to_string() }),
    }
}

fn reservation(rowkey: &[u8]) -> Vec<u8> {
    let mut reservation = header::marked(RESERVED);
    reservation.extend_from_slice(rowkey);
    reservation
}
