//! Tests of the codec and of the range algebra through the public API.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

extern crate bennu_rowkey as rowkey;

mod corrupt;
mod describe;
mod formats;

mod order;
mod ranges;
mod ranges_brute_force;
mod round_trip;
mod values;
