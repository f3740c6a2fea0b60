//! Test support for the store contract: reference model, mirror, faults and the conformance suite. For tests only.
//!
//! ```text
//!   suite      what every store must do: one list of cases, run against each backend and the model
//!   model      the contract in memory, simple enough to be believed
//!   mirror     two stores in step: the first difference is an error
//!   limited    a store with some capabilities taken away
//!   unordered  a store whose commit numbers have no order
//!   faults     a store whose calls fail when a plan says so
//!   recorder   a store that counts and remembers its calls
//!   seeded     choices that a seed makes
//! ```
//! Wrappers ([`store::Wrapper`]) are stores themselves, so they can be stacked, for example a recorder over a mirror of
//! a model and a backend.

pub mod faults;
mod least;
pub mod limited;
pub mod mirror;
pub mod model;
mod rebuilt;
pub mod recorder;
pub mod seeded;
pub mod suite;
pub mod unordered;

pub use faults::{FaultPlan, FaultStore, Point};
pub use least::least_store;
pub use limited::{LimitedStore, Without};
pub use mirror::MirrorStore;
pub use model::ModelStore;
pub use recorder::{Call, Counts, RecordingStore};
pub use seeded::{Random, from_environment};
pub use unordered::UnorderedStore;
