//! Dates and times: their integer values, encoded as in `integer.rs`.
//!
//! The infinities are the smallest and the largest integer, which is their order in SQL. Decoded values must be in the
//! range of their type: [`crate::cell_value`] writes no others.

use crate::integer::Ordered;
use types::{Datum, temporal};

/// Decodes a date from 4 bytes.
pub(crate) fn date(bytes: [u8; 4]) -> Option<Datum> {
    checked(Datum::Date(i32::from_ordered(bytes)))
}

/// Decodes a time, timestamp or timestamptz from 8 bytes; `kind` is the variant.
pub(crate) fn micros(bytes: [u8; 8], kind: fn(i64) -> Datum) -> Option<Datum> {
    checked(kind(i64::from_ordered(bytes)))
}

/// Checks that the value is in the range of its type.
pub(crate) fn checked(value: Datum) -> Option<Datum> {
    temporal::in_range(&value).then_some(value)
}
