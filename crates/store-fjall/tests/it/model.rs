//! Long random runs compared with the model, with small budgets so that flushes and loads happen constantly.

use std::sync::Arc;
use std::time::Duration;
use store_fjall::{FjallStore, Options};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_runs_agree_with_the_model_while_memtables_flush_and_loads_move_tables() {
    for seed in 1..=6 {
        let folder = tempfile::tempdir().unwrap();
        let options = Options {
            cache_bytes: 1 << 20,
            memtable_entries: 50 * seed,
            idle_flush: Duration::from_millis(100),
            small_load_bytes: 500,
            load_buffer_bytes: 1000,
            ..Options::default()
        };
        let store: Arc<dyn store::Store> = FjallStore::open(folder.path(), options).unwrap();
        store_testkit::suite::random::run(store, seed, 300).await;
    }
}
