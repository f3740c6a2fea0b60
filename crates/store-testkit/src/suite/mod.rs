//! The conformance suite: what every store must do, as a list of cases. A backend runs all of them:
//!
//! ```ignore
//! async fn new_store() -> Arc<dyn Store> { ... }       // empty, in a folder of its own
//! store_testkit::conformance_tests!(new_store);        // one #[tokio::test] for each case
//! ```
//! A case gets an empty store and panics if the store violates the contract. Parts that need a missing capability are
//! skipped with a message.
//!
//! A case asserts only what the contract guarantees: a commit may be published earlier than in the model, scans may
//! form any batches, and sizes are estimates.

// Test code shared by several crates: a failed assertion is its result.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::print_stderr)]

pub mod atomicity;
pub mod bulk;
pub mod bulk_tables;
pub mod cells;
pub mod filter;
mod fixture;
pub mod flushes;
pub mod large;
pub mod limits;
mod list;
pub mod random;
pub mod regions;
pub mod scan;
pub mod snapshots;
pub mod tables;

pub use list::cases;

use std::pin::Pin;
use std::sync::Arc;
use store::Store;

/// A boxed future.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;
/// A case: gets an empty store and panics on an error.
pub type CaseFn = fn(Arc<dyn Store>) -> BoxFuture<()>;

/// Runs every case on a new store, and prints its name.
pub async fn run_all(make: &dyn Fn() -> BoxFuture<Arc<dyn Store>>) {
    for (name, case) in cases() {
        eprintln!("{name}");
        case(make().await).await;
    }
}
