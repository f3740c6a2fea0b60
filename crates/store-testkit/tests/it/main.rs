//! The model and its wrappers pass the suite, and incorrect stores do not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

mod faults;
mod limited;
mod mirror;
mod model;
mod rows;
mod unordered;
mod wrong_stores;
