//! The conformance suite of the store contract.

use std::sync::Arc;
use store::Store;
use store_fjall::{FjallStore, Options};

/// Small budgets, so that the cases reach runs, flushes and large commits. The folder is deleted with the store.
async fn new_store() -> Arc<dyn Store> {
    let folder = tempfile::tempdir().unwrap().keep();
    let options = Options {
        cache_bytes: 4 << 20,
        large_commit_bytes: 16 << 10,
        small_load_bytes: 4 << 10,
        load_buffer_bytes: 64 << 10,
        temporary: true,
        ..Options::default()
    };
    FjallStore::open(folder, options).unwrap()
}

store_testkit::conformance_tests!(new_store);
