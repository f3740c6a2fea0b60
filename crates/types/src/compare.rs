//! The order of SQL values: one function, which sorting, key encoding and tests share.
//!
//! Text compares by bytes (collation C), `NaN` is equal to itself and above all other floats, `-0.0` equals
//! `0.0`, false is below true. NULL comes last here; callers implement the NULLS FIRST of ORDER BY.

use crate::Datum;
use std::cmp::Ordering;

/// Compares two values of the same kind. Integers of any width compare by value; values of different kinds, which the
/// type checker excludes, get a fixed order so that sorting stays well-defined.
pub fn compare(a: &Datum, b: &Datum) -> Ordering {
    match (a, b) {
        (Datum::Bool(a), Datum::Bool(b)) => a.cmp(b),
        (Datum::Float4(a), Datum::Float4(b)) => compare_floats(f64::from(*a), f64::from(*b)),
        (Datum::Float8(a), Datum::Float8(b)) => compare_floats(*a, *b),
        (Datum::Numeric(a), Datum::Numeric(b)) => a.cmp(b),
        (Datum::Text(a), Datum::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Datum::Bytes(a), Datum::Bytes(b)) => a.cmp(b),
        (Datum::Date(a), Datum::Date(b)) => a.cmp(b),
        (Datum::Time(a), Datum::Time(b))
        | (Datum::Timestamp(a), Datum::Timestamp(b))
        | (Datum::TimestampTz(a), Datum::TimestampTz(b)) => a.cmp(b),
        (Datum::Uuid(a), Datum::Uuid(b)) => a.cmp(b),
        (Datum::Interval(a), Datum::Interval(b)) => a.span().cmp(&b.span()),
        (Datum::Array(a), Datum::Array(b)) => compare_arrays(a, b),
        _ => match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => rank(a).cmp(&rank(b)),
        },
    }
}

/// Whether two values are indistinguishable. Equal values may differ in what is printed or cast: numerics in their scale,
/// floats in the sign of zero, intervals in their parts.
pub fn is_identical(a: &Datum, b: &Datum) -> bool {
    match (a, b) {
        (Datum::Float4(a), Datum::Float4(b)) => a.to_bits() == b.to_bits(),
        (Datum::Float8(a), Datum::Float8(b)) => a.to_bits() == b.to_bits(),
        (Datum::Numeric(a), Datum::Numeric(b)) => (a.unscaled, a.scale) == (b.unscaled, b.scale),
        (Datum::Interval(a), Datum::Interval(b)) => (a.months, a.days, a.micros) == (b.months, b.days, b.micros),
        (Datum::Array(a), Datum::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| is_identical(a, b))
        }
        (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b) && a == b,
    }
}

/// Compares element by element, whatever the dimensions. If the elements of one array are a prefix of the other's, the
/// shorter array comes first; of equal lengths, the array with fewer or smaller dimensions.
fn compare_arrays(a: &[Datum], b: &[Datum]) -> Ordering {
    if !is_nested(a) && !is_nested(b) {
        return compare_elements(a.iter(), b.iter()).unwrap_or_else(|| a.len().cmp(&b.len()));
    }
    let (left, right) = (elements(a), elements(b));
    let by_size = || (left.len(), sizes(a).len(), sizes(a)).cmp(&(right.len(), sizes(b).len(), sizes(b)));
    compare_elements(left.iter().copied(), right.iter().copied()).unwrap_or_else(by_size)
}

fn is_nested(array: &[Datum]) -> bool {
    matches!(array.first(), Some(Datum::Array(_)))
}

/// Returns the order of the first two elements that differ.
fn compare_elements<'d>(a: impl Iterator<Item = &'d Datum>, b: impl Iterator<Item = &'d Datum>) -> Option<Ordering> {
    a.zip(b).map(|(a, b)| compare(a, b)).find(|order| order.is_ne())
}

/// Returns the elements of an array of any number of dimensions.
fn elements(array: &[Datum]) -> Vec<&Datum> {
    let mut found = Vec::with_capacity(array.len());
    for part in array {
        match part {
            Datum::Array(inner) => found.extend(elements(inner)),
            element => found.push(element),
        }
    }
    found
}

/// Returns the size of each dimension; all parts have the same size.
fn sizes(mut array: &[Datum]) -> Vec<usize> {
    let mut sizes = vec![array.len()];
    while let Some(Datum::Array(inner)) = array.first() {
        sizes.push(inner.len());
        array = inner;
    }
    sizes
}

/// Compares floats as SQL does: a total order with `NaN` on top.
pub fn compare_floats(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// Returns the rank of a kind among the kinds; NULL is last.
fn rank(value: &Datum) -> u8 {
    match value {
        Datum::Bool(_) => 0,
        Datum::Int2(_) | Datum::Int4(_) | Datum::Int8(_) => 1,
        Datum::Float4(_) => 2,
        Datum::Float8(_) => 3,
        Datum::Numeric(_) => 4,
        Datum::Text(_) => 5,
        Datum::Bytes(_) => 6,
        Datum::Date(_) => 7,
        Datum::Time(_) => 8,
        Datum::Timestamp(_) => 9,
        Datum::TimestampTz(_) => 10,
        Datum::Uuid(_) => 11,
        Datum::Interval(_) => 12,
        Datum::Array(_) => 13,
        Datum::Null => 14,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_have_a_total_order() {
        let ordered = [f64::NEG_INFINITY, -1.0, 0.0, 1.0, f64::INFINITY, f64::NAN];
        for pair in ordered.windows(2) {
            if let [a, b] = pair {
                assert_eq!(compare_floats(*a, *b), Ordering::Less);
            }
        }
        assert_eq!(compare_floats(-0.0, 0.0), Ordering::Equal);
        assert_eq!(compare_floats(f64::NAN, -f64::NAN), Ordering::Equal);
    }

    #[test]
    fn null_comes_last_and_integers_compare_by_value() {
        assert_eq!(compare(&Datum::Null, &Datum::Int2(1)), Ordering::Greater);
        assert_eq!(compare(&Datum::Null, &Datum::Null), Ordering::Equal);
        assert_eq!(compare(&Datum::Int2(3), &Datum::Int8(3)), Ordering::Equal);
    }
}
