//! Rebuilds one entry from its row: after a crashed writer, for an index build, and for CHECK … REPAIR.
//!
//! ```text
//!   entry e of row r, read in this order:
//!   r exists        rewrite r unchanged, if it has the stamp that was read: writers that read r before fail
//!   r is void       delete it, on the same condition: the insert in progress fails
//!   r is missing    no writer is about to write it: an insert writes a void row before its entries
//!   e               verify or delete, if it has the stamp that was read: later writers mark it again
//! ```
//! A missing entry has no stamp: other writers could insert and delete it without being noticed. If the row needs the
//! entry, it is first written as unverified, and then checked again.

use super::layer::Shared;
use super::reserve::Rewritten;
use super::{FAMILY, has_mark, stamp_of};
use fragment::header::{self, RESERVED, UNVERIFIED, VOID};
use store::{Bytes, Durability, EntryRows, PointRead, StoreError, StoreResult, TableId};

/// Maximum number of attempts with concurrent changes.
const TRIES: usize = 64;

/// The outcome of one attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    /// The entry matches its row, or a writer is at work on it.
    Done,
    /// A concurrent change occurred.
    Again,
}

impl Shared {
    /// See the module documentation. With `at_once`, repairs even if a writer may be at work.
    pub(super) async fn repair(
        &self,
        entry: (TableId, &Bytes),
        entries: &dyn EntryRows,
        at_once: bool,
    ) -> StoreResult<()> {
        for _ in 0..TRIES {
            if self.try_repair(entry, entries, at_once).await? == Look::Done {
                return Ok(());
            }
        }
        let (table, key) = (entry.0, entry.1.clone());
        Err(StoreError::ConditionFailed { table, key })
    }

    async fn try_repair(&self, entry: (TableId, &Bytes), entries: &dyn EntryRows, at_once: bool) -> StoreResult<Look> {
        let there = self.there(entry.0, entry.1).await?;
        if has_mark(there.as_ref(), RESERVED) {
            return Ok(Look::Done);
        }
        let rowkey = entries.rowkey(entry.1)?;
        let row = (entries.rows(), &rowkey);
        let of_row = match self.there(row.0, row.1).await? {
            Some(void) if header::marks_of(&void) & VOID != 0 => {
                if let Some(look) = self.try_delete_void(row, &void, at_once).await? {
                    return Ok(look);
                }
                None
            }
            Some(fragment) => {
                let of_row = entries.entry(&rowkey, &fragment)?.filter(|(key, _)| key == entry.1);
                if self.is_as(there.as_ref(), of_row.as_ref(), (entry, entries), at_once).await? {
                    return Ok(Look::Done);
                }
                if there.is_none() {
                    self.swap(entry, None, Some(header::marked(UNVERIFIED)), Durability::Buffered).await?;
                    return Ok(Look::Again);
                }
                let stamp = header::commit_of(&fragment);
                if self.swap(row, stamp, Some(fragment.to_vec()), Durability::Buffered).await?.is_none() {
                    return Ok(Look::Again);
                }
                of_row
            }
            None => None,
        };
        match (&of_row, &there) {
            (None, None) => return Ok(Look::Done),
            (Some(_), _) => self.reserve_again(entry, entries, &rowkey).await?,
            (None, Some(_)) => {}
        }
        let fragment = of_row.map(|(_, fragment)| fragment.to_vec());
        let swapped = self.swap(entry, stamp_of(there.as_ref()), fragment, Durability::Buffered).await?;
        Ok(if swapped.is_some() { Look::Done } else { Look::Again })
    }

    /// Returns `None` if the void row was deleted.
    async fn try_delete_void(&self, row: (TableId, &Bytes), void: &[u8], at_once: bool) -> StoreResult<Option<Look>> {
        if !at_once && !self.is_old(void) {
            return Ok(Some(Look::Done));
        }
        let deleted = self.swap(row, header::commit_of(void), None, Durability::Buffered).await?;
        Ok(if deleted.is_some() { None } else { Some(Look::Again) })
    }

    /// Whether an entry matches its row, and its unique value is reserved if `and_reserved`.
    async fn is_as(
        &self,
        there: Option<&Bytes>,
        of_row: Option<&(Bytes, Bytes)>,
        (entry, entries): ((TableId, &Bytes), &dyn EntryRows),
        and_reserved: bool,
    ) -> StoreResult<bool> {
        match (there, of_row) {
            (None, None) => Ok(true),
            (Some(there), Some((_, wanted))) if is_verified_as(there, wanted) => {
                Ok(!and_reserved || self.is_reserved_by(entry, entries).await?)
            }
            _ => Ok(false),
        }
    }

    /// Reserves the unique value of a row again. If another row has the value, too, there is no reservation: the check
    /// for duplicates reports it.
    async fn reserve_again(&self, entry: (TableId, &Bytes), entries: &dyn EntryRows, row: &Bytes) -> StoreResult<()> {
        let Some(prefix) = entries.unique_prefix(entry.1)? else { return Ok(()) };
        let prefix = entry.1.slice(..prefix.min(entry.1.len()));
        let mut rewritten = Rewritten::default();
        match self.reserve((entry.0, &prefix), entries, row, Durability::Buffered, &mut rewritten).await {
            Ok(_) | Err(StoreError::ConditionFailed { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Returns the keys of abandoned unverified entries of an index. With `repair`, also repairs all that is marked.
    pub(super) async fn repair_index(&self, storage: TableId, repair: bool) -> StoreResult<Vec<Bytes>> {
        let Some(entries) = self.entries_of(storage) else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for (key, fragment) in self.marked(storage).await? {
            match header::marks_of(&fragment) & UNVERIFIED != 0 {
                true if !self.is_old(&fragment) => {}
                true => {
                    if repair {
                        self.repair((storage, &key), entries.as_ref(), true).await?;
                    }
                    found.push(key);
                }
                false if repair && self.is_old(&fragment) => {
                    self.release_stale((storage, &key), entries.as_ref(), &fragment).await?;
                }
                false => {}
            }
        }
        if repair {
            self.repair_voids(entries.rows()).await?;
        }
        Ok(found)
    }

    /// Deletes void rows of inserts that did not complete.
    async fn repair_voids(&self, rows: TableId) -> StoreResult<()> {
        for (key, fragment) in self.marked(rows).await? {
            if header::marks_of(&fragment) & VOID != 0 && self.is_old(&fragment) {
                self.swap((rows, &key), header::commit_of(&fragment), None, Durability::Buffered).await?;
            }
        }
        Ok(())
    }

    /// See [`super::DualStore::is_reserved`].
    pub(super) async fn is_reserved(&self, storage: TableId, entry: &[u8]) -> StoreResult<bool> {
        match self.entries_of(storage) {
            Some(entries) => self.is_reserved_by((storage, &Bytes::copy_from_slice(entry)), entries.as_ref()).await,
            None => Ok(true),
        }
    }

    async fn is_reserved_by(&self, (storage, entry): (TableId, &Bytes), entries: &dyn EntryRows) -> StoreResult<bool> {
        let Some(prefix) = entries.unique_prefix(entry)? else { return Ok(true) };
        let Some(prefix) = entry.get(..prefix) else { return Ok(true) };
        let rowkey = entries.rowkey(entry)?;
        let held = self.raw.get_newest(storage, FAMILY, prefix).await?;
        Ok(held.is_some_and(|held| held.get(header::LEN..) == Some(rowkey.as_ref())))
    }
}

/// Whether it is this fragment, except for the stamp, and verified.
fn is_verified_as(there: &[u8], wanted: &[u8]) -> bool {
    there.get(..4) == wanted.get(..4) && there.get(header::LEN..) == wanted.get(header::LEN..)
}
