//! Dates and times: the integers that count them, in the bytes of `integer.rs`.
//!
//! The infinities are the smallest and the largest integer, so they sort where SQL wants them. What is read must be in
//! the range of its type: anything else was not written by [`crate::cell_value`].

use crate::integer::Ordered;
use types::{Datum, temporal};

/// A date from its 4 bytes.
pub(crate) fn date(bytes: [u8; 4]) -> Option<Datum> {
    checked(Datum::Date(i32::from_ordered(bytes)))
}

/// A time, timestamp or timestamptz from its 8 bytes; `kind` is the variant.
pub(crate) fn micros(bytes: [u8; 8], kind: fn(i64) -> Datum) -> Option<Datum> {
    checked(kind(i64::from_ordered(bytes)))
}

/// Only what its type can have.
pub(crate) fn checked(value: Datum) -> Option<Datum> {
    temporal::in_range(&value).then_some(value)
}
