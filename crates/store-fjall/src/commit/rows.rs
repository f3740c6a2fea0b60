//! Rows of a batch encoded for fjall before the commit lock is taken; only their stamps are added under the lock.
//!
//! ```text
//!   before the lock   keys with prefixes, private copies of the fragments, zero stamps          EncodedRows::of
//!   under the lock    check that no table has moved; 16-byte stamp per row; fjall's batch       EncodedRows::add_to
//! ```

use crate::commit::pipeline::Last;
use crate::limits::check_own_key;
use crate::placement::{Changed, Place, Table, TableMap};
use crate::stamp;
use fjall::{OwnedWriteBatch, Slice};
use lsm_tree::Builder;
use std::sync::Arc;
use store::{CommitNo, FamilyId, Mutation, StoreResult, TableId, Timestamp};

/// Journal overhead of each row, and of a batch.
pub(super) const ITEM_BYTES: usize = 32;

/// Encoded rows without stamps.
#[derive(Default)]
pub(crate) struct EncodedRows {
    homes: Vec<Home>,
    rows: Vec<Row>,
    /// Approximate journal bytes.
    bytes: usize,
}

/// A family of a table, with its place at the time of encoding.
struct Home {
    id: TableId,
    family: FamilyId,
    table: Arc<Table>,
    place: Place,
}

/// One row; without a value it is deleted.
struct Row {
    home: usize,
    key: Slice,
    value: Option<Builder>,
}

impl EncodedRows {
    /// Encodes rows for their places in `tables`.
    ///
    /// # Errors
    /// [`store::StoreError::NoSuchTable`], [`store::StoreError::NoSuchFamily`], [`store::StoreError::Corrupted`] for
    /// values that are not fragments, and [`store::StoreError::Unsupported`] for an empty key in an own keyspace.
    pub(crate) fn of(tables: &TableMap, mutations: Vec<Mutation>) -> StoreResult<Self> {
        let mut encoded = Self { rows: Vec::with_capacity(mutations.len()), ..Self::default() };
        for mutation in mutations {
            let (table, family, key) = mutation.target();
            let home = encoded.home(tables, table, family)?;
            let key = encoded.key(home, key)?;
            let value = match mutation {
                Mutation::Replace { fragment, .. } => Some(unstamped(&fragment)?),
                Mutation::Delete { .. } => None,
            };
            encoded.bytes += key.len() + value.as_ref().map_or(0, |value| value.len()) + ITEM_BYTES;
            encoded.rows.push(Row { home, key, value });
        }
        Ok(encoded)
    }

    /// Searches from the end, because rows of a batch mostly come table by table.
    fn home(&mut self, tables: &TableMap, id: TableId, family: FamilyId) -> StoreResult<usize> {
        let is_it = |home: &Home| home.id == id && home.family == family;
        if let Some(found) = self.homes.iter().rposition(is_it) {
            return Ok(found);
        }
        self.homes.push(Home::find(tables, id, family)?);
        Ok(self.homes.len() - 1)
    }

    fn key(&self, home: usize, rowkey: &[u8]) -> StoreResult<Slice> {
        // Always found: the index comes from `home`.
        let Some(Home { table, place, .. }) = self.homes.get(home) else { return Ok(Slice::from(rowkey)) };
        if place.slot.is_none() {
            check_own_key(rowkey)?;
        }
        table.count_write(rowkey);
        Ok(place.key(rowkey))
    }

    /// Returns true if no table has moved. The caller holds the commit lock, and `tables` are the newest.
    pub(crate) fn are_in(&self, tables: &TableMap) -> bool {
        self.homes.iter().all(|home| tables.table(home.id).is_ok_and(|table| Arc::ptr_eq(table, &home.table)))
    }

    /// Re-encodes the keys for the places in `tables`, after a load moved a table.
    ///
    /// # Errors
    /// As [`Self::of`].
    pub(crate) fn moved_to(mut self, tables: &TableMap) -> StoreResult<Self> {
        let new = |home: &Home| Home::find(tables, home.id, home.family);
        let homes = self.homes.iter().map(new).collect::<StoreResult<Vec<_>>>()?;
        for row in &mut self.rows {
            let (Some(old), Some(new)) = (self.homes.get(row.home), homes.get(row.home)) else { continue };
            let rowkey = row.key.get(old.place.prefix.len()..).unwrap_or_default();
            if new.place.slot.is_none() {
                check_own_key(rowkey)?;
            }
            row.key = new.place.key(rowkey);
        }
        self.homes = homes;
        Ok(self)
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Approximate journal bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The change records of the rows' tables.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &Changed> {
        self.homes.iter().map(|home| &home.table.changed)
    }

    /// Stamps the rows and adds them to a batch.
    ///
    /// # Errors
    /// None in practice: `unstamped` has stamped the same bytes before.
    pub(crate) fn add_to(&mut self, batch: &mut OwnedWriteBatch, stamp: Last) -> StoreResult<()> {
        for row in self.rows.drain(..) {
            let Some(home) = self.homes.get(row.home) else { continue };
            match row.value {
                Some(mut value) => {
                    stamp::write(&mut value, stamp.stamp, stamp.commit)?;
                    batch.insert(&home.place.keyspace, row.key, Slice::from(value.freeze()));
                }
                None => batch.remove(&home.place.keyspace, row.key),
            }
        }
        Ok(())
    }
}

impl Home {
    fn find(tables: &TableMap, id: TableId, family: FamilyId) -> StoreResult<Self> {
        let (_, place) = tables.place(id, family)?;
        Ok(Self { id, family, table: tables.table(id)?.clone(), place: place.clone() })
    }
}

/// A private copy of a fragment, so that its stamp can be written in place.
fn unstamped(fragment: &[u8]) -> StoreResult<Builder> {
    let mut value = Builder::new(Slice::from(fragment).into());
    stamp::write(&mut value, Timestamp(0), CommitNo(0))?;
    Ok(value)
}
