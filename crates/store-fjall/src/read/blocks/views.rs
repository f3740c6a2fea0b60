//! Views of keyspaces, kept from one scan to the next: most scans are short, and for them finding out what a
//! keyspace consists of is a large part of the work.
//!
//! A view holds a memtable and files. So those that nobody used lately are forgotten soon, lest a flushed
//! memtable stays in memory and a compacted table on disk.

use super::{Image, LongScans, Samples};
use crate::memtables::Memtables;
use fjall::Keyspace;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The views of a store's keyspaces.
#[derive(Default)]
pub(crate) struct Views {
    /// By the number of their keyspace. Held for one lookup or change.
    kept: Mutex<HashMap<u64, Arc<Kept>>>,
    /// What long scans have read.
    pub(crate) scans: Arc<LongScans>,
    /// Memtables that may be sealed.
    pub(crate) memtables: Arc<Memtables>,
    /// Where the entries of memtables lie.
    pub(crate) samples: Samples,
}

struct Kept {
    image: Arc<Image>,
    /// Was it handed out since [`Views::forget_unused`] came by?
    used: AtomicBool,
}

impl Views {
    /// The image of `keyspace` for readers at `seqno`, which a held snapshot protects.
    pub(crate) fn of(&self, keyspace: &Keyspace, seqno: u64) -> Arc<Image> {
        let kept = self.kept.lock().get(&keyspace.id()).cloned();
        if let Some(kept) = kept.filter(|kept| kept.image.serves(keyspace, seqno)) {
            kept.used.store(true, Ordering::Relaxed);
            return Arc::clone(&kept.image);
        }
        let image = Arc::new(Image::take(keyspace, seqno));
        if image.serves(keyspace, seqno) {
            let kept = Arc::new(Kept { image: Arc::clone(&image), used: AtomicBool::new(true) });
            let replaced = self.kept.lock().insert(keyspace.id(), kept);
            // Its memtable and files may go with it: not while others wait for the lock.
            drop(replaced);
        }
        image
    }

    /// Forgets what was not used since the last call.
    pub(crate) fn forget_unused(&self) {
        let is_unused = |kept: &Kept| !kept.used.swap(false, Ordering::Relaxed);
        let unused: Vec<_> = self.kept.lock().extract_if(|_, kept| is_unused(kept)).collect();
        drop(unused);
        self.samples.forget_gone();
    }
}
