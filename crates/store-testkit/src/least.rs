//! The store with the fewest guarantees: what the layers above can rely on with every backend.

use crate::{LimitedStore, UnorderedStore, Without};
use std::sync::Arc;
use store::Store;

/// Wraps `store` to remove all optional capabilities and the order of commit numbers.
pub fn minimal_store(store: impl Store + 'static) -> Arc<dyn Store> {
    Arc::new(UnorderedStore::new(Arc::new(LimitedStore::new(Arc::new(store), Without::everything()))))
}
