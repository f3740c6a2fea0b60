//! The state of a keyspace for one snapshot, independent of the tree.
//!
//! A tree keeps all its versions from that of the oldest snapshot on, each with the memtable that was active then: one
//! old reader would keep everything written since, flushed or not. An image holds only one version. Its content is
//! immutable: tables are never rewritten in place, and of a memtable that still grows a reader only uses entries below
//! its sequence number. So an image can be read without fjall's snapshot as long as it is held; compaction deletes a
//! table's file with the last handle.

use super::lens::{self, Iterate, Rows};
use super::overlay::SharedSlice;
use super::{Memtable, View};
use crate::error::storage;
use crate::read::range::StoredRange;
use fjall::{AnyTree, Keyspace};
use std::sync::Arc;
use store::StoreResult;

/// The content of a keyspace for readers at one sequence number.
pub(crate) struct Image {
    /// The memtable that was active, or an empty one.
    pub(crate) memtable: Arc<Memtable>,
    /// The block view; `None` if the blocks cannot be read directly.
    pub(crate) view: Option<Arc<View>>,
    iterate: Iterate,
    /// Bytes in sealed memtables.
    sealed_bytes: u64,
}

impl Image {
    /// Takes the image of `keyspace` for readers at `seqno`, which a held snapshot protects.
    pub(crate) fn take(keyspace: &Keyspace, seqno: u64) -> Self {
        Self::of(keyspace, seqno, false)
    }

    /// As [`Self::take`] for a long time: excludes a memtable that contains only later entries.
    pub(crate) fn take_alone(keyspace: &Keyspace, seqno: u64) -> Self {
        Self::of(keyspace, seqno, true)
    }

    fn of(keyspace: &Keyspace, seqno: u64, alone: bool) -> Self {
        let tree: &AnyTree = &keyspace.tree;
        let seen = lens::look(tree, seqno, alone);
        let sealed_bytes = seen.parts.as_ref().map_or(0, |parts| parts.sealed_bytes);
        let view = seen.parts.and_then(|parts| View::of(tree, seqno, seen.memtable.clone(), parts));
        Self { memtable: seen.memtable, view: view.map(Arc::new), iterate: seen.iterate, sealed_bytes }
    }

    /// Bytes of its memtables.
    pub(crate) fn memtable_bytes(&self) -> u64 {
        self.memtable.size().saturating_add(self.sealed_bytes)
    }

    /// The rows of `range` at `seqno`.
    pub(crate) fn rows(&self, range: &StoredRange, seqno: u64) -> Rows {
        (self.iterate)(range, seqno)
    }

    /// Returns the fragment of a stored key, read with the iterator.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn get(&self, key: &[u8], seqno: u64) -> StoreResult<Option<SharedSlice>> {
        let range = StoredRange { start: key.to_vec(), end: Some([key, &[0]].concat()) };
        let found = self.rows(&range, seqno).next().transpose();
        let found = found.map_err(|error| storage("reading a row")(&error))?;
        Ok(found.map(|(_, fragment)| SharedSlice::whole(fragment)))
    }

    /// Returns true if the image is also valid at `seqno`. Always false for images without a view.
    pub(super) fn serves(&self, keyspace: &Keyspace, seqno: u64) -> bool {
        self.view.as_ref().is_some_and(|view| view.serves(&keyspace.tree, seqno))
    }
}
