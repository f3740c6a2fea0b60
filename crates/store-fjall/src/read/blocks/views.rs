//! A cache of images and views of keyspaces: most scans are short, and building a view would be a large part of their
//! cost.
//!
//! A view keeps a memtable and files in use, so unused views are dropped soon.

use super::{Image, LongScans, Samples};
use crate::memtables::Memtables;
use fjall::Keyspace;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The cached images of a store's keyspaces.
#[derive(Default)]
pub(crate) struct Views {
    /// By keyspace id. Held for one lookup or change.
    kept: Mutex<HashMap<u64, Arc<Kept>>>,
    /// The history of long scans.
    pub(crate) scans: Arc<LongScans>,
    /// The memtables of the store, including sealed ones.
    pub(crate) memtables: Arc<Memtables>,
    /// Key samples of memtables.
    pub(crate) samples: Samples,
}

struct Kept {
    image: Arc<Image>,
    /// Whether it was used since the last [`Views::forget_unused`].
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
            // Dropped outside of the lock, because that may free a memtable and files.
            drop(replaced);
        }
        image
    }

    /// Drops images that were not used since the last call.
    pub(crate) fn forget_unused(&self) {
        let is_unused = |kept: &Kept| !kept.used.swap(false, Ordering::Relaxed);
        let unused: Vec<_> = self.kept.lock().extract_if(|_, kept| is_unused(kept)).collect();
        drop(unused);
        self.samples.forget_gone();
    }
}
