//! Views of keyspaces, kept from one scan to the next: most scans are short, and for them finding out what a
//! keyspace consists of is a large part of the work.
//!
//! A view holds a memtable and files. So those that nobody used lately are forgotten soon, lest a flushed
//! memtable stays in memory and a compacted table on disk.

use super::View;
use fjall::Keyspace;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// The views of a store's keyspaces.
#[derive(Default)]
pub(crate) struct Views {
    /// By the number of their keyspace. Held for one lookup or change.
    kept: Mutex<HashMap<u64, Kept>>,
}

struct Kept {
    view: Arc<View>,
    /// Was it handed out since [`Views::forget_unused`] came by?
    used: bool,
}

impl Views {
    /// The view of `keyspace` for readers at `seqno`, which a held snapshot protects. `None` as for [`View::open`].
    pub(crate) fn of(&self, keyspace: &Keyspace, seqno: u64) -> Option<Arc<View>> {
        let kept = self.kept.lock().get_mut(&keyspace.id()).map(|kept| {
            kept.used = true;
            Arc::clone(&kept.view)
        });
        if let Some(view) = kept.filter(|view| view.serves(&keyspace.tree, seqno)) {
            return Some(view);
        }
        let view = Arc::new(View::open(&keyspace.tree, seqno)?);
        if view.serves(&keyspace.tree, seqno) {
            self.kept.lock().insert(keyspace.id(), Kept { view: Arc::clone(&view), used: true });
        }
        Some(view)
    }

    /// Forgets what was not used since the last call.
    pub(crate) fn forget_unused(&self) {
        self.kept.lock().retain(|_, kept| std::mem::take(&mut kept.used));
    }
}
