//! The suite against the model.

use bennu_store_testkit::ModelStore;
use std::sync::Arc;
use store::Store;

async fn new_store() -> Arc<dyn Store> {
    Arc::new(ModelStore::new())
}

bennu_store_testkit::conformance_tests!(new_store);
