//! A keyspace as one snapshot sees it, whole, and independent of the tree.
//!
//! A tree keeps every version of itself from that of the oldest snapshot on, and with each the memtable that was
//! active then: one old reader holds everything written since, flushed or not. An image holds one version only.
//! What it names does not change: tables are never rewritten in place, and of the memtable, which may go on growing,
//! a reader takes the entries below its sequence number. So it serves without fjall's snapshot, for as long as
//! it is held; compaction deletes a table's file with the last handle.

use super::lens::{self, Iterate, Rows};
use super::overlay::Lent;
use super::{Memtable, View};
use crate::error::storage;
use crate::read::range::StoredRange;
use fjall::{AnyTree, Keyspace};
use std::sync::Arc;
use store::StoreResult;

/// What a keyspace consists of for readers at one sequence number.
pub(crate) struct Image {
    /// The memtable that was active, or an empty one.
    pub(crate) memtable: Arc<Memtable>,
    /// Its blocks; `None` when they cannot serve.
    pub(crate) view: Option<Arc<View>>,
    iterate: Iterate,
    /// In sealed memtables.
    sealed_bytes: u64,
}

impl Image {
    /// The image of `keyspace` for readers at `seqno`, which a held snapshot protects.
    pub(crate) fn take(keyspace: &Keyspace, seqno: u64) -> Self {
        Self::of(keyspace, seqno, false)
    }

    /// The same, to be held for long: without a memtable that holds later entries only.
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

    /// What its memtables take.
    pub(crate) fn memtable_bytes(&self) -> u64 {
        self.memtable.size().saturating_add(self.sealed_bytes)
    }

    /// The rows of `range` at `seqno`.
    pub(crate) fn rows(&self, range: &StoredRange, seqno: u64) -> Rows {
        (self.iterate)(range, seqno)
    }

    /// The fragment under a stored key, found by the iterator.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn get(&self, key: &[u8], seqno: u64) -> StoreResult<Option<Lent>> {
        let range = StoredRange { start: key.to_vec(), end: Some([key, &[0]].concat()) };
        let found = self.rows(&range, seqno).next().transpose();
        let found = found.map_err(|error| storage("reading a row")(&error))?;
        Ok(found.map(|(_, fragment)| Lent::whole(fragment)))
    }

    /// Is it the image for readers at `seqno`, too? Only told for images with a view.
    pub(super) fn serves(&self, keyspace: &Keyspace, seqno: u64) -> bool {
        self.view.as_ref().is_some_and(|view| view.serves(&keyspace.tree, seqno))
    }
}
