//! Property tests of text forms, comparison and assignment through the public API.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

extern crate bennu_types as types;

mod assignment;
mod comparison;
mod text_round_trip;
mod values;
