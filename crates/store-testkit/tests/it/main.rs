//! The model passes the suite, so do the wrappers around it, and a store that is wrong does not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

mod faults;
mod limited;
mod mirror;
mod model;
mod rows;
mod unordered;
mod wrong_stores;
