//! Where the rows of one (table, family) are, and as of when.

use super::blocks::{Image, Lent, Points, View, Views};
use crate::error::engine;
use bytes::Bytes;
use fjall::{AbstractTree, Keyspace, Readable, Snapshot};
use std::fmt;
use std::sync::Arc;
use store::{KeyList, StoreResult};

/// Longest key that fjall holds, with its prefix.
pub(crate) const MAX_STORED_KEY: usize = u16::MAX as usize;

/// The rows of one (table, family) at one snapshot. Cheap to clone; it holds what the snapshot needs.
#[derive(Clone)]
pub(crate) struct ReadSource {
    /// The LSM tree that holds them, perhaps with those of other tables.
    pub(crate) keyspace: Keyspace,
    /// What stands in front of their rowkeys there: a slot, or nothing in a keyspace of their own.
    pub(crate) prefix: Bytes,
    /// The state to read. Always a published one: see the invariants of the crate.
    pub(crate) position: Position,
    /// What the keyspaces consist of.
    pub(crate) views: Arc<Views>,
}

/// By what a state of a keyspace is reached.
#[derive(Clone)]
pub(crate) enum Position {
    /// fjall's snapshot: for its sake every tree keeps all that came after it.
    Live(Arc<Snapshot>),
    /// The version of the tree that a snapshot at `seqno` read, held on its own.
    Image {
        /// Entries below this number are visible.
        seqno: u64,
        /// What holds them.
        image: Arc<Image>,
    },
}

impl ReadSource {
    /// Overwrites `key` with the one under which the keyspace keeps `rowkey`.
    pub(crate) fn stored_key_into(&self, rowkey: &[u8], key: &mut Vec<u8>) {
        key.clear();
        key.extend_from_slice(&self.prefix);
        key.extend_from_slice(rowkey);
    }

    /// Can the keyspace have a row of this key? fjall panics at keys that it cannot hold.
    pub(crate) fn can_hold(&self, rowkey: &[u8]) -> bool {
        (1..=MAX_STORED_KEY).contains(&(self.prefix.len() + rowkey.len()))
    }

    /// Entries below this number are visible.
    pub(crate) fn seqno(&self) -> u64 {
        match &self.position {
            Position::Live(snapshot) => snapshot.seqno(),
            Position::Image { seqno, .. } => *seqno,
        }
    }

    /// What the keyspace consists of at this state.
    pub(crate) fn image(&self) -> Arc<Image> {
        match &self.position {
            Position::Live(snapshot) => self.views.of(&self.keyspace, snapshot.seqno()),
            Position::Image { image, .. } => Arc::clone(image),
        }
    }

    /// The same rows without fjall's snapshot: what reads for long must not hold one.
    pub(crate) fn detached(self) -> Self {
        let position = Position::Image { seqno: self.seqno(), image: self.image() };
        Self { position, ..self }
    }

    /// What the blocks of the keyspace are reached by; `None` when they cannot serve this source.
    pub(crate) fn view(&self) -> Option<Arc<View>> {
        self.image().view.clone()
    }

    /// The same for a few rows: where a view would have to be looked for again and again, there is none.
    pub(crate) fn view_of_few_rows(&self) -> Option<Arc<View>> {
        let is_live = matches!(self.position, Position::Live(_));
        if is_live && self.keyspace.tree.sealed_memtable_count() > 0 { None } else { self.view() }
    }

    /// The fragment of one row, from the blocks of `view` if there is one.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn get(&self, rowkey: &[u8], view: Option<&View>, points: &mut Points) -> StoreResult<Option<Lent>> {
        // One buffer for the keys of all gets.
        let mut key = std::mem::take(&mut points.key);
        self.stored_key_into(rowkey, &mut key);
        let found = match view {
            _ if !self.can_hold(rowkey) => Ok(None),
            Some(view) => points.get(view, self.seqno(), &key),
            None => self.merged_get(&key),
        };
        points.key = key;
        found
    }

    /// The fragments of several rows, whose keys ascend and can be there, from the blocks of `view` if there is one.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn get_group<'k>(
        &self,
        rowkeys: impl Iterator<Item = &'k [u8]>,
        view: Option<&View>,
        points: &mut Points,
    ) -> StoreResult<Vec<Option<Lent>>> {
        let Some(view) = view else {
            return rowkeys.map(|rowkey| self.get(rowkey, None, points)).collect();
        };
        if self.prefix.is_empty() {
            return points.get_group(view, self.seqno(), &rowkeys.collect::<Vec<_>>());
        }
        let (mut stored, mut key) = (KeyList::default(), Vec::new());
        for rowkey in rowkeys {
            self.stored_key_into(rowkey, &mut key);
            stored.push(&key);
        }
        points.get_group(view, self.seqno(), &stored.iter().collect::<Vec<_>>())
    }

    /// The fragment under a stored key, from whatever holds it.
    pub(super) fn merged_get(&self, key: &[u8]) -> StoreResult<Option<Lent>> {
        match &self.position {
            Position::Live(snapshot) => {
                let found = snapshot.get(&self.keyspace, key).map_err(engine("reading a row"))?;
                Ok(found.map(Lent::whole))
            }
            Position::Image { seqno, image } => image.get(key, *seqno),
        }
    }
}

impl fmt::Debug for ReadSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReadSource(prefix {:?} at seqno {})", self.prefix, self.seqno())
    }
}
