//! Computes the changes of an index from a change of a row.

use crate::Entry;
use store::Bytes;

/// The changes of one index's entries. The delete is applied first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The key of an entry to delete.
    pub delete: Option<Bytes>,
    /// An entry to insert, or to replace the entry with its key.
    pub put: Option<Entry>,
}

/// Compares the entries of the old and the new row; `None` if there is no row, or no entry for it.
pub fn change(old: Option<Entry>, new: Option<Entry>) -> Change {
    match (old, new) {
        (Some(old), Some(new)) if old == new => Change::default(),
        (Some(old), Some(new)) if old.key == new.key => Change { delete: None, put: Some(new) },
        (old, new) => Change { delete: old.map(|entry| entry.key), put: new },
    }
}
