//! What every store must do, as one list of cases. A backend runs all of them:
//!
//! ```ignore
//! async fn new_store() -> Arc<dyn Store> { ... }       // empty, in a folder of its own
//! store_testkit::conformance_tests!(new_store);        // one #[tokio::test] for each case
//! ```
//! A case gets an empty store and panics on what the contract does not allow. What depends on a
//! capability is left out where the store does not have it, and says so.
//!
//! A case asserts what the contract promises and nothing beyond: a commit may be published earlier
//! than the model does it, a scan may cut its batches anywhere, sizes are estimates.

// This is test code that several crates share: a failed assertion is its result.
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

/// A future of any kind.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;
/// One case: gets an empty store, panics if it is not as it must be.
pub type CaseFn = fn(Arc<dyn Store>) -> BoxFuture<()>;

/// Runs every case on a store of its own, and names the one that runs.
pub async fn run_all(make: &dyn Fn() -> BoxFuture<Arc<dyn Store>>) {
    for (name, case) in cases() {
        eprintln!("{name}");
        case(make().await).await;
    }
}
