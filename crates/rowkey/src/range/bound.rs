//! Converts a comparison with one part to a set of encodings.
//!
//! The value need not be representable in the part's type: `integer < 2.5` is `integer <= 2`, `smallint < 100000` is
//! `IS NOT NULL`. So the value is first located among the values of the part's type; the operator then selects a side.

use super::interval::{Interval, PartSet};
use crate::part::{NULL_LAST, VALUE};
use crate::{KeyPart, variable};
use types::temporal::DAY;
use types::{CompareOp, DataType, Datum, Decimal, coerce};

/// The position of a value relative to the values of a type.
enum Place {
    /// Less than all values.
    Below,
    /// Equal to this value.
    At(Datum),
    /// Between this value and the next one.
    After(Datum),
    /// Greater than all values.
    Above,
}

/// Encodings that satisfy `part op value`; `None` if the value is not comparable with the part's type.
pub(crate) fn comparison(part: &KeyPart, op: CompareOp, value: &Datum) -> Option<PartSet> {
    if value.is_null() {
        return Some(PartSet::NOTHING);
    }
    let (values, is_one) = match place(&part.ty, value)? {
        Place::Below => return Some(all_or_nothing(part, matches!(op, CompareOp::Gt | CompareOp::Ge | CompareOp::Ne))),
        Place::Above => return Some(all_or_nothing(part, matches!(op, CompareOp::Lt | CompareOp::Le | CompareOp::Ne))),
        Place::At(value) => (Sides::new(part, &value)?, true),
        Place::After(value) => (Sides::new(part, &value)?, false),
    };
    Some(match (op, is_one) {
        (CompareOp::Eq, true) => PartSet::of(vec![values.point()]),
        (CompareOp::Eq, false) => PartSet::NOTHING,
        (CompareOp::Ne, true) => {
            PartSet::of([values.less(false), values.greater(false)].into_iter().flatten().collect())
        }
        (CompareOp::Ne, false) => not_null(part),
        (CompareOp::Lt, one) => of_one(values.less(!one)),
        (CompareOp::Le, _) => of_one(values.less(true)),
        (CompareOp::Gt, _) => of_one(values.greater(false)),
        (CompareOp::Ge, one) => of_one(values.greater(one)),
    })
}

/// The complement of single values within the part's non-null values.
pub(crate) fn gaps(part: &KeyPart, mut points: Vec<Interval>) -> Vec<Interval> {
    points.sort_by(|a, b| a.start.cmp(&b.start));
    let mut gaps = Vec::with_capacity(points.len() + 1);
    let mut behind = Some(low(part));
    for point in points {
        let Some(start) = behind else { break };
        gaps.extend(Interval::new(start, Some(point.start)));
        behind = point.end;
    }
    gaps.extend(behind.and_then(|start| Interval::new(start, high(part))));
    gaps
}

/// Encodings of texts with this prefix, and whether they are exactly the matches of the predicate.
pub(crate) fn prefix(part: &KeyPart, prefix: &str) -> Option<(PartSet, bool)> {
    if !part.ty.is_text() {
        return None;
    }
    // LIKE matches the padding blanks of a char(n), but the key does not contain them.
    let kept = if matches!(part.ty, DataType::Char(_)) { prefix.trim_end_matches(' ') } else { prefix };
    let exact = kept.len() == prefix.len();
    if kept.is_empty() {
        return Some((not_null(part), exact));
    }
    let mut start = low(part);
    let value = start.len();
    variable::encode_open(kept.as_bytes(), &mut start);
    part.invert(value, &mut start);
    let end = successor(&start).or_else(|| high(part));
    Some((of_one(Interval::new(start, end)), exact))
}

/// The encoding of NULL, or with `negated` all other encodings.
pub(crate) fn is_null(part: &KeyPart, negated: bool) -> PartSet {
    match (part.nullable, negated) {
        (_, true) => not_null(part),
        (false, false) => PartSet::NOTHING,
        (true, false) => {
            let start = vec![part.null_mark()];
            PartSet::of(vec![Interval { end: successor(&start), start, point: true }])
        }
    }
}

/// The smallest bytes after all that begin with `prefix`; `None` if there are none.
pub(crate) fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if let Some(next) = last.checked_add(1) {
            end.push(next);
            return Some(end);
        }
    }
    None
}

fn all_or_nothing(part: &KeyPart, all: bool) -> PartSet {
    if all { not_null(part) } else { PartSet::NOTHING }
}

fn of_one(interval: Option<Interval>) -> PartSet {
    PartSet::of(interval.into_iter().collect())
}

fn not_null(part: &KeyPart) -> PartSet {
    of_one(Interval::new(low(part), high(part)))
}

/// The start of the part's non-null values.
fn low(part: &KeyPart) -> Vec<u8> {
    if part.nullable { vec![VALUE] } else { Vec::new() }
}

/// The end of the part's non-null values.
fn high(part: &KeyPart) -> Option<Vec<u8>> {
    part.nullable.then(|| vec![NULL_LAST])
}

/// The encodings before and after one value, in the direction of the part.
struct Sides<'a> {
    part: &'a KeyPart,
    /// The value's encoding, and the smallest bytes after it.
    start: Vec<u8>,
    end: Option<Vec<u8>>,
}

impl<'a> Sides<'a> {
    fn new(part: &'a KeyPart, value: &Datum) -> Option<Self> {
        let mut start = Vec::new();
        part.encode(0, value, &mut start).ok()?;
        let end = match part.ty.fixed_width() {
            // Of the same length as an encoding, so that it equals the start of the next value, if there is one.
            Some(width) => next_of_same_length(&start, width),
            None => successor(&start),
        };
        Some(Self { part, start, end: end.or_else(|| high(part)) })
    }

    fn point(self) -> Interval {
        Interval { start: self.start, end: self.end, point: true }
    }

    fn less(&self, or_equal: bool) -> Option<Interval> {
        if self.part.descending { self.behind(or_equal) } else { self.before(or_equal) }
    }

    fn greater(&self, or_equal: bool) -> Option<Interval> {
        if self.part.descending { self.before(or_equal) } else { self.behind(or_equal) }
    }

    fn before(&self, or_equal: bool) -> Option<Interval> {
        let end = if or_equal { self.end.clone() } else { Some(self.start.clone()) };
        Interval::new(low(self.part), end)
    }

    fn behind(&self, or_equal: bool) -> Option<Interval> {
        let start = if or_equal { self.start.clone() } else { self.end.clone()? };
        Interval::new(start, high(self.part))
    }
}

/// Increments the last `width` bytes; `None` on overflow.
fn next_of_same_length(encoding: &[u8], width: usize) -> Option<Vec<u8>> {
    let (mark, value) = encoding.split_at_checked(encoding.len().checked_sub(width)?)?;
    let mut next = [mark, &successor(value)?].concat();
    next.resize(encoding.len(), 0);
    Some(next)
}

/// Returns `None` if values of this type are not comparable with `ty`, or only inexactly.
fn place(ty: &DataType, value: &Datum) -> Option<Place> {
    match (ty, value) {
        (DataType::SmallInt | DataType::Integer | DataType::BigInt, _) => place_integer(ty, value),
        (DataType::Real, Datum::Float8(float)) => Some(place_single(*float)),
        (DataType::Real, Datum::Float4(_)) | (DataType::Double, Datum::Float8(_)) => Some(Place::At(value.clone())),
        (DataType::Double, Datum::Float4(float)) => Some(Place::At(Datum::Float8(f64::from(*float)))),
        (DataType::Double, _) => exact_float(value).map(|float| Place::At(Datum::Float8(float))),
        (DataType::Real, _) => exact_float(value).map(place_single),
        (DataType::Numeric(parameters), _) => place_numeric(*parameters, as_decimal(value)?),
        (DataType::Date, Datum::Timestamp(micros)) => place_date(*micros),
        (DataType::Timestamp(_), Datum::Date(_)) => coerce::assign(ty, value.clone()).ok().map(Place::At),
        (DataType::Binary(length), Datum::Bytes(bytes)) if bytes.len() != *length as usize => None,
        _ => Some(Place::At(value.clone())),
    }
}

fn as_decimal(value: &Datum) -> Option<Decimal> {
    match value {
        Datum::Numeric(number) => Some(*number),
        _ => value.as_i64().map(Decimal::from),
    }
}

/// An integer as a float, if the conversion is exact.
fn exact_float(value: &Datum) -> Option<f64> {
    let integer = value.as_i64()?;
    (integer.unsigned_abs() <= 1 << 53).then_some(integer as f64)
}

fn place_integer(ty: &DataType, value: &Datum) -> Option<Place> {
    let (floor, is_one) = match value {
        Datum::Float8(float) if *ty != DataType::BigInt => match float_floor(*float) {
            Ok(floor) => floor,
            Err(place) => return Some(place),
        },
        Datum::Float4(_) | Datum::Float8(_) => return None,
        _ => {
            let (floor, is_one) = as_decimal(value)?.floor_to(0)?;
            (floor.unscaled, is_one)
        }
    };
    let datum = match ty {
        DataType::SmallInt => i16::try_from(floor).map(Datum::Int2),
        DataType::Integer => i32::try_from(floor).map(Datum::Int4),
        _ => i64::try_from(floor).map(Datum::Int8),
    };
    Some(match datum {
        Ok(value) if is_one => Place::At(value),
        Ok(value) => Place::After(value),
        Err(_) if floor < 0 => Place::Below,
        Err(_) => Place::Above,
    })
}

/// The floor of a float, and whether it equals the float; `Err` with the side if the float is beyond all integers.
fn float_floor(float: f64) -> Result<(i128, bool), Place> {
    let floor = float.floor();
    if float.is_nan() || floor > 1e30 {
        return Err(Place::Above);
    }
    if floor < -1e30 {
        return Err(Place::Below);
    }
    // The absolute value is below 2^100, so the cast is exact.
    Ok((floor as i128, floor == float))
}

fn place_single(float: f64) -> Place {
    let nearest = float as f32;
    if float.is_nan() || f64::from(nearest) == float {
        return Place::At(Datum::Float4(nearest));
    }
    let floor = if f64::from(nearest) > float { nearest.next_down() } else { nearest };
    Place::After(Datum::Float4(floor))
}

fn place_numeric(parameters: Option<(u8, u8)>, value: Decimal) -> Option<Place> {
    let Some((precision, scale)) = parameters else {
        return Some(Place::At(Datum::Numeric(value)));
    };
    let beyond = if value.unscaled < 0 { Place::Below } else { Place::Above };
    Some(match value.floor_to(scale) {
        Some((floor, is_one)) if floor.fits_precision(precision) => {
            let floor = Datum::Numeric(floor);
            if is_one { Place::At(floor) } else { Place::After(floor) }
        }
        _ => beyond,
    })
}

fn place_date(micros: i64) -> Option<Place> {
    let day = Datum::Date(match micros {
        i64::MIN => i32::MIN,
        i64::MAX => i32::MAX,
        _ => i32::try_from(micros.div_euclid(DAY)).ok()?,
    });
    let is_one = matches!(micros, i64::MIN | i64::MAX) || micros.rem_euclid(DAY) == 0;
    Some(if is_one { Place::At(day) } else { Place::After(day) })
}
