//! Test support for the store contract: reference model, mirror, faults and the conformance suite. For tests only.
//!
//! ```text
//!   suite      the conformance cases, run against each backend and the model
//!   model      a simple reference implementation in memory
//!   mirror     two stores in lockstep: a difference is an error
//!   limited    a store without some capabilities
//!   unordered  a store whose commit numbers are not ordered
//!   faults     a store that injects errors by plan
//!   recorder   a store that counts and records its calls
//!   seeded     random choices determined by a seed
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
pub use least::minimal_store;
pub use limited::{LimitedStore, Without};
pub use mirror::MirrorStore;
pub use model::ModelStore;
pub use recorder::{Call, Counts, RecordingStore};
pub use seeded::{Random, from_environment};
pub use unordered::UnorderedStore;
