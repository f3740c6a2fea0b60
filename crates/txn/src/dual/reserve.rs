//! A unique value is reserved before the row with the value is written. A reservation is a row of the index whose key
//! is only the value, and which contains the rowkey.
//!
//! ```text
//!   missing                     insert
//!   names this row              rewrite: whoever considers it stale fails on the new stamp
//!   names another row, which    has the value      fail: the value is taken
//!                               does not exist     replace, if the reservation is unchanged
//!                               lacks it (yet)     wait for the writer; if the reservation is old, rewrite that row
//!                                                  unchanged, so that its writer fails, and replace
//! ```

use super::layer::Shared;
use super::{has_mark, stamp_of};
use fragment::header::{self, RESERVED, VOID};
use std::collections::BTreeMap;
use std::time::Duration;
use store::{Bytes, CommitNo, Durability, EntryRows, StoreError, StoreResult, TableId};
use tokio::time::Instant;

/// The interval between two checks of a value that a writer is about to take or release.
const PAUSE: Duration = Duration::from_millis(2);
/// After this multiple of the patience, the statement is retried.
const PATIENCE_FACTOR: u32 = 4;

/// A new or renewed reservation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reserved {
    pub(super) stamp: CommitNo,
    /// Whether it was not this row's before. If so, only its creator relies on it.
    pub(super) fresh: bool,
}

/// Rows that were rewritten unchanged while values were reserved. If the commit writes such a row itself, it has read
/// the previous stamp.
#[derive(Debug, Default)]
pub(super) struct Rewritten(BTreeMap<(TableId, Bytes), Stamps>);

#[derive(Debug)]
struct Stamps {
    before: CommitNo,
    now: CommitNo,
}

impl Rewritten {
    /// The present stamp of a row that was read with `read`.
    pub(super) fn stamp(&self, (table, key): (TableId, &Bytes), read: CommitNo) -> CommitNo {
        let stamps = self.0.get(&(table, key.clone())).filter(|stamps| stamps.before == read);
        stamps.map_or(read, |stamps| stamps.now)
    }

    fn note(&mut self, (table, key): (TableId, &Bytes), before: CommitNo, now: CommitNo) {
        let stamps = self.0.entry((table, key.clone())).or_insert(Stamps { before, now: before });
        match stamps.now == before {
            true => stamps.now = now,
            // Another writer wrote the row in between.
            false => *stamps = Stamps { before, now },
        }
    }
}

/// The relation of another row to the value that it has reserved.
enum Holder {
    /// The row has the value.
    Has,
    /// The row does not have the value, and no writer is about to change that.
    Gone,
    /// A writer may be at work on the row.
    Busy,
}

impl Shared {
    /// See the module documentation.
    ///
    /// # Errors
    /// [`StoreError::ConditionFailed`] if another row has the value; the store's.
    pub(super) async fn reserve(
        &self,
        value: (TableId, &Bytes),
        entries: &dyn EntryRows,
        rowkey: &Bytes,
        durability: Durability,
        rewritten: &mut Rewritten,
    ) -> StoreResult<Reserved> {
        let began = Instant::now();
        // At least one attempt, even if the thread was delayed before.
        let mut attempts = 0;
        while attempts == 0 || began.elapsed() < self.patience * PATIENCE_FACTOR {
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

    /// Rewrites the reservation of a value that a row is about to release; `None` if it is another row's.
    pub(super) async fn mark_released(
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

    /// Deletes a reservation whose row does not have the value.
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

/// The rowkey in a reservation.
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
