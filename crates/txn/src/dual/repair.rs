//! Makes one entry what its row says: of a writer that is gone, of a build, of CHECK … REPAIR.
//!
//! ```text
//!   entry e of row r, read in this order
//!   r is there      rewrite r as it is, if it has the stamp that was read: writers that looked before fail
//!   r is void       delete it, likewise: the insert under way fails
//!   r is not there  nobody is about to write it: an insert puts a void row before its entries
//!   e               verify, or delete, if it has the stamp that was read: writers that look now mark it anew
//! ```

use super::layer::Shared;
use super::reserve::Rewritten;
use super::{FAMILY, has_mark, stamp_of};
use fragment::header::{self, RESERVED, UNVERIFIED, VOID};
use store::{Bytes, Durability, EntryRows, PointRead, StoreError, StoreResult, TableId};

/// Others may come between again and again.
const TRIES: usize = 64;

/// What a look at an entry came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    /// It is as its row says, or somebody is at work on it.
    Done,
    /// Somebody came between.
    Again,
}

impl Shared {
    /// See the file's head. `at_once`: also if a writer may be at work.
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
                if !at_once && !self.is_old(&void) {
                    return Ok(Look::Done);
                }
                let stamp = header::commit_of(&void);
                if self.swap(row, stamp, None, Durability::Buffered).await?.is_none() {
                    return Ok(Look::Again);
                }
                None
            }
            Some(fragment) => {
                let of_row = entries.entry(&rowkey, &fragment)?.filter(|(key, _)| key == entry.1);
                let same = |(_, wanted): &(Bytes, Bytes)| is_verified_as(there.as_ref(), wanted);
                let is_right =
                    of_row.as_ref().is_some_and(same) && (!at_once || self.is_reserved_by(entry, entries).await?);
                if is_right || (of_row.is_none() && there.is_none()) {
                    return Ok(Look::Done);
                }
                let stamp = header::commit_of(&fragment);
                if self.swap(row, stamp, Some(fragment.to_vec()), Durability::Buffered).await?.is_none() {
                    return Ok(Look::Again);
                }
                of_row
            }
            None => None,
        };
        if of_row.is_none() && there.is_none() {
            return Ok(Look::Done);
        }
        if of_row.is_some() {
            self.reserve_again(entry, entries, &rowkey).await?;
        }
        let fragment = of_row.map(|(_, fragment)| fragment.to_vec());
        let swapped = self.swap(entry, stamp_of(there.as_ref()), fragment, Durability::Buffered).await?;
        Ok(if swapped.is_some() { Look::Done } else { Look::Again })
    }

    /// The reservation that a row with a unique value has. Where another row has the value, too, it stays without: that is
    /// told by who looks for doubled values.
    async fn reserve_again(&self, entry: (TableId, &Bytes), entries: &dyn EntryRows, row: &Bytes) -> StoreResult<()> {
        let Some(prefix) = entries.unique_prefix(entry.1)? else { return Ok(()) };
        let prefix = entry.1.slice(..prefix.min(entry.1.len()));
        let mut rewritten = Rewritten::default();
        match self.reserve((entry.0, &prefix), entries, row, Durability::Buffered, &mut rewritten).await {
            Ok(_) | Err(StoreError::ConditionFailed { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Repairs what is marked in an index, or only what a writer left long ago is told. The keys of entries.
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

    /// Rows that inserts began and did not write.
    async fn repair_voids(&self, rows: TableId) -> StoreResult<()> {
        for (key, fragment) in self.marked(rows).await? {
            if header::marks_of(&fragment) & VOID != 0 && self.is_old(&fragment) {
                self.swap((rows, &key), header::commit_of(&fragment), None, Durability::Buffered).await?;
            }
        }
        Ok(())
    }

    /// See `DualStore::is_reserved`.
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

/// Is it this fragment, but for the stamp, and believed?
fn is_verified_as(there: Option<&Bytes>, wanted: &[u8]) -> bool {
    there
        .is_some_and(|there| there.get(..4) == wanted.get(..4) && there.get(header::LEN..) == wanted.get(header::LEN..))
}
