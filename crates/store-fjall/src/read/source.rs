//! The location of the rows of one (table, family), and the state to read.

use super::blocks::{Image, Points, SharedSlice, View, Views};
use crate::error::engine;
use bytes::Bytes;
use fjall::{AbstractTree, Keyspace, Readable, Snapshot};
use std::fmt;
use std::sync::Arc;
use store::{KeyList, StoreResult};

/// Longest key that fjall supports, including the prefix.
pub(crate) const MAX_STORED_KEY: usize = u16::MAX as usize;

/// The rows of one (table, family) at one snapshot. Cheap to clone. Holds what the snapshot needs.
#[derive(Clone)]
pub(crate) struct ReadSource {
    /// The LSM tree that holds the rows, possibly with those of other tables.
    pub(crate) keyspace: Keyspace,
    /// The prefix of the rowkeys: the slot, or empty in an own keyspace.
    pub(crate) prefix: Bytes,
    /// The state to read. Always protected by a snapshot or an image: see the invariants of the crate.
    pub(crate) position: Position,
    /// The cached images of the keyspaces.
    pub(crate) views: Arc<Views>,
}

/// How the state of a keyspace is accessed.
#[derive(Clone)]
pub(crate) enum Position {
    /// Through fjall's snapshot, for which every tree keeps all later versions.
    Live(Arc<Snapshot>),
    /// Through the tree version that a snapshot at `seqno` reads, held separately.
    Image {
        /// Entries below this number are visible.
        seqno: u64,
        /// The tree version.
        image: Arc<Image>,
    },
}

impl ReadSource {
    /// Overwrites `key` with the stored key of `rowkey`.
    pub(crate) fn stored_key_into(&self, rowkey: &[u8], key: &mut Vec<u8>) {
        key.clear();
        key.extend_from_slice(&self.prefix);
        key.extend_from_slice(rowkey);
    }

    /// Returns true if the keyspace can have a row with this key. fjall panics on other keys.
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

    /// The keyspace's tree version at this state.
    pub(crate) fn image(&self) -> Arc<Image> {
        match &self.position {
            Position::Live(snapshot) => self.views.of(&self.keyspace, snapshot.seqno()),
            Position::Image { image, .. } => Arc::clone(image),
        }
    }

    /// The same rows without fjall's snapshot, which long reads must not hold.
    pub(crate) fn detached(self) -> Self {
        let position = Position::Image { seqno: self.seqno(), image: self.image() };
        Self { position, ..self }
    }

    /// The block view of the keyspace; `None` if its blocks cannot be read for this source.
    pub(crate) fn view(&self) -> Option<Arc<View>> {
        self.image().view.clone()
    }

    /// The block view for a read of few rows. `None` while memtables are sealed: then no view is cached, and each read
    /// would build one.
    pub(crate) fn view_of_few_rows(&self) -> Option<Arc<View>> {
        let is_live = matches!(self.position, Position::Live(_));
        if is_live && self.keyspace.tree.sealed_memtable_count() > 0 { None } else { self.view() }
    }

    /// Returns the fragment of one row, from the blocks of `view` if given.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn get(
        &self,
        rowkey: &[u8],
        view: Option<&View>,
        points: &mut Points,
    ) -> StoreResult<Option<SharedSlice>> {
        // Reuses one buffer for the keys of all gets.
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

    /// Returns the fragments of several rows, from the blocks of `view` if given. The keys must ascend and be possible.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn get_group<'k>(
        &self,
        rowkeys: impl Iterator<Item = &'k [u8]>,
        view: Option<&View>,
        points: &mut Points,
    ) -> StoreResult<Vec<Option<SharedSlice>>> {
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

    /// Returns the fragment of a stored key by a merging read.
    pub(super) fn merged_get(&self, key: &[u8]) -> StoreResult<Option<SharedSlice>> {
        match &self.position {
            Position::Live(snapshot) => {
                let found = snapshot.get(&self.keyspace, key).map_err(engine("reading a row"))?;
                Ok(found.map(SharedSlice::whole))
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
