//! What a change of a row changes in an index.

use crate::Entry;
use store::Bytes;

/// What is to be done to the entries of one index. The delete comes first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The key of an entry that goes away.
    pub delete: Option<Bytes>,
    /// An entry that comes, or replaces the one of its key.
    pub put: Option<Entry>,
}

/// From the entry of the old row and that of the new one; `None` where there is no row, or none in the index.
pub fn change(old: Option<Entry>, new: Option<Entry>) -> Change {
    match (old, new) {
        (Some(old), Some(new)) if old == new => Change::default(),
        (Some(old), Some(new)) if old.key == new.key => Change { delete: None, put: Some(new) },
        (old, new) => Change { delete: old.map(|entry| entry.key), put: new },
    }
}
