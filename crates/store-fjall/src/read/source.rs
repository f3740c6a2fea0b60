//! Where the rows of one (table, family) are, and as of when.

use super::blocks::{Lent, Points, View, Views};
use crate::error::engine;
use bytes::Bytes;
use fjall::{AbstractTree, Keyspace, Readable, Snapshot};
use std::fmt;
use std::sync::Arc;
use store::StoreResult;

/// Longest key that fjall holds, with its prefix.
pub(crate) const MAX_STORED_KEY: usize = u16::MAX as usize;

/// The rows of one (table, family) at one snapshot. Cheap to clone; it holds the snapshot.
#[derive(Clone)]
pub(crate) struct ReadSource {
    /// The LSM tree that holds them, perhaps with those of other tables.
    pub(crate) keyspace: Keyspace,
    /// What stands in front of their rowkeys there: a slot, or nothing in a keyspace of their own.
    pub(crate) prefix: Bytes,
    /// The state to read. Always a published one: see the invariants of the crate.
    pub(crate) snapshot: Arc<Snapshot>,
    /// What the keyspaces consist of.
    pub(crate) views: Arc<Views>,
}

impl ReadSource {
    /// The key under which the keyspace keeps `rowkey`.
    pub(crate) fn stored_key(&self, rowkey: &[u8]) -> Vec<u8> {
        let mut key = Vec::with_capacity(self.prefix.len() + rowkey.len());
        key.extend_from_slice(&self.prefix);
        key.extend_from_slice(rowkey);
        key
    }

    /// What the blocks of the keyspace are reached by; `None` when they cannot serve this source.
    pub(crate) fn view(&self) -> Option<Arc<View>> {
        self.views.of(&self.keyspace, self.snapshot.seqno())
    }

    /// The same for a few rows: where a view would have to be looked for again and again, there is none.
    pub(crate) fn settled_view(&self) -> Option<Arc<View>> {
        if self.keyspace.tree.sealed_memtable_count() > 0 { None } else { self.view() }
    }

    /// The fragment of one row, from the blocks of `view` if there is one.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn get(&self, rowkey: &[u8], view: Option<&View>, points: &mut Points) -> StoreResult<Option<Lent>> {
        let key = self.stored_key(rowkey);
        // fjall panics at keys that it cannot hold.
        if key.is_empty() || key.len() > MAX_STORED_KEY {
            return Ok(None);
        }
        match view {
            Some(view) => points.get(view, self.snapshot.seqno(), &key),
            None => self.fjall_get(&key),
        }
    }

    /// The fragment under a stored key, as fjall finds it.
    pub(super) fn fjall_get(&self, key: &[u8]) -> StoreResult<Option<Lent>> {
        let found = self.snapshot.get(&self.keyspace, key).map_err(engine("reading a row"))?;
        Ok(found.map(Lent::whole))
    }
}

impl fmt::Debug for ReadSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReadSource(prefix {:?} at seqno {})", self.prefix, self.snapshot.seqno())
    }
}
