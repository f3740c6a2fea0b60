//! The store with the fewest promises: what a layer above can rely on everywhere.

use crate::{LimitedStore, UnorderedStore, Without};
use std::sync::Arc;
use store::Store;

/// `store` without all that a store may lack, and without an order of commit numbers.
pub fn least_store(store: impl Store + 'static) -> Arc<dyn Store> {
    Arc::new(UnorderedStore::new(Arc::new(LimitedStore::new(Arc::new(store), Without::everything()))))
}
