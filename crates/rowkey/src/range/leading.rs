//! A fast path for statements without a plan, which compute ranges on each execution: `a = 1 AND b = 2 AND c >= 3 AND c
//! < 4` over the first key parts, and `a IN (1, 2) AND b = 3` over the whole key.
//!
//! The result equals that of `normalize` and `skip_scan`, without building boxes; all other conditions are left to
//! them.

use super::bound::{comparison, successor};
use super::condition::{Access, ByteRange, Condition, KeyRanges, RangeLimits};
use super::interval::{Interval, PartSet};
use crate::KeySchema;
use types::{CompareOp, Datum};

/// The maximum number of parts supported here.
const MAX_PARTS: usize = 16;

/// The maximum number of keys.
const MAX_POINTS: usize = 256;

/// Returns `None` if the fast path does not apply.
pub(crate) fn ranges(schema: &KeySchema, conditions: &[Condition], limits: &RangeLimits) -> Option<KeyRanges> {
    if conditions.is_empty() || limits.max_ranges < 256 {
        return None;
    }
    let Leading { values, equal, bounded, listed } = Leading::of(conditions)?;
    if equal + usize::from(bounded) > schema.parts.len() {
        return None;
    }
    if equal == schema.parts.len() {
        return points(schema, &values, conditions.len());
    }
    if listed {
        return None;
    }
    let mut start = Vec::with_capacity(64);
    start.extend(schema.salt_buckets.map(|_| 0));
    for (index, (part, values)) in schema.parts.iter().zip(values).take(equal).enumerate() {
        // A value that the part cannot represent exactly (2.5 for an integer) fails here, and the general path handles
        // it.
        part.encode(index, values?.first()?, &mut start).ok()?;
    }
    let range = match bounded {
        true => bounded_range(start, interval(schema, conditions, equal)?),
        false => ByteRange { end: successor(&start), start },
    };
    if schema.salt_buckets.is_some() && range.start.iter().all(|byte| *byte == 0) {
        // The range starts at the start of a bucket, so the ranges of adjacent buckets may touch and must be merged.
        return None;
    }
    let (ranges, buckets) = match schema.salt_buckets {
        None => (vec![range], None),
        Some(count) => {
            let buckets: Vec<u8> = (0..count).filter_map(|bucket| u8::try_from(bucket).ok()).collect();
            (buckets.iter().map(|bucket| in_bucket(*bucket, &range)).collect(), Some(buckets))
        }
    };
    let parts_used = equal + usize::from(bounded);
    Some(KeyRanges {
        ranges,
        exact: vec![true; conditions.len()],
        access: Access::Range,
        parts_used,
        equal_parts: equal,
        buckets,
    })
}

/// One equality or IN list for each of the first parts, and optionally comparisons with the next part.
struct Leading<'a> {
    /// The values of each part.
    values: [Option<&'a [Datum]>; MAX_PARTS],
    /// The number of parts with values.
    equal: usize,
    bounded: bool,
    /// Whether one condition is an IN list.
    listed: bool,
}

impl<'a> Leading<'a> {
    fn of(conditions: &'a [Condition]) -> Option<Self> {
        let mut values: [Option<&[Datum]>; MAX_PARTS] = [None; MAX_PARTS];
        let (mut equal, mut bounded, mut listed) = (0, None, false);
        for condition in conditions {
            let (part, own) = match condition {
                Condition::Compare { part, op: CompareOp::Eq, value } => (part, std::slice::from_ref(value)),
                Condition::In { part, values } => {
                    listed = true;
                    (part, values.as_slice())
                }
                Condition::Compare {
                    part,
                    op: CompareOp::Lt | CompareOp::Le | CompareOp::Gt | CompareOp::Ge,
                    value,
                } if bounded.is_none_or(|bounded| bounded == part) && !value.is_null() => {
                    bounded = Some(part);
                    continue;
                }
                _ => return None,
            };
            if own.iter().any(Datum::is_null) {
                return None;
            }
            *values.get_mut(*part).filter(|slot| slot.is_none())? = Some(own);
            equal += 1;
        }
        let leads = values.iter().take(equal).all(Option::is_some) && bounded.is_none_or(|part| *part == equal);
        leads.then_some(Self { values, equal, bounded: bounded.is_some(), listed })
    }
}

/// The interval of `part` values that satisfy all comparisons with it; `None` if it is not a single interval.
fn interval(schema: &KeySchema, conditions: &[Condition], part: usize) -> Option<Interval> {
    let key_part = schema.parts.get(part)?;
    let mut common = PartSet::All;
    for condition in conditions {
        if let Condition::Compare { part: of, op, value } = condition
            && *of == part
        {
            common = common.intersect(&comparison(key_part, *op, value)?);
        }
    }
    match common {
        PartSet::Within(intervals) => <[Interval; 1]>::try_from(intervals).ok().map(|[interval]| interval),
        PartSet::All => None,
    }
}

fn bounded_range(prefix: Vec<u8>, interval: Interval) -> ByteRange {
    let end = interval.end.map_or_else(|| successor(&prefix), |end| Some([prefix.as_slice(), &end].concat()));
    let mut start = prefix;
    start.extend_from_slice(&interval.start);
    ByteRange { start, end }
}

/// Full keys: the cross product of the values of all parts.
fn points(schema: &KeySchema, values: &[Option<&[Datum]>], conditions: usize) -> Option<KeyRanges> {
    let mut first = Vec::with_capacity(64);
    first.extend(schema.salt_buckets.map(|_| 0));
    let mut keys = vec![first];
    let mut equal_parts = 0;
    for (index, (part, values)) in schema.parts.iter().zip(values).enumerate() {
        if let [value] = (*values)? {
            equal_parts += usize::from(equal_parts == index);
            keys.iter_mut().try_for_each(|key| part.encode(index, value, key)).ok()?;
            continue;
        }
        let mut encoded = Vec::with_capacity((*values)?.len());
        for value in (*values)? {
            let mut bytes = Vec::with_capacity(16);
            part.encode(index, value, &mut bytes).ok()?;
            encoded.push(bytes);
        }
        encoded.sort_unstable();
        encoded.dedup();
        equal_parts += usize::from(equal_parts == index && encoded.len() == 1);
        if keys.len() * encoded.len() > MAX_POINTS {
            return None;
        }
        keys = keys.iter().flat_map(|key| encoded.iter().map(|bytes| [key.as_slice(), bytes].concat())).collect();
    }
    if keys.is_empty() {
        return None;
    }
    let buckets = match schema.salt_buckets {
        Some(_) => Some(salt(schema, &mut keys)?),
        None => None,
    };
    let range = |key: Vec<u8>| ByteRange { end: Some([key.as_slice(), &[0]].concat()), start: key };
    Some(KeyRanges {
        access: Access::Points(keys.len()),
        ranges: keys.into_iter().map(range).collect(),
        exact: vec![true; conditions],
        parts_used: conditions,
        equal_parts,
        buckets,
    })
}

/// Sets the salt byte of each key. Returns the buckets.
fn salt(schema: &KeySchema, keys: &mut [Vec<u8>]) -> Option<Vec<u8>> {
    let mut buckets = Vec::with_capacity(keys.len());
    for key in keys.iter_mut() {
        let bucket = schema.salt_of(schema.unsalted(key))?;
        *key.first_mut()? = bucket;
        buckets.push(bucket);
    }
    keys.sort_unstable();
    buckets.sort_unstable();
    buckets.dedup();
    Some(buckets)
}

/// Moves `range`, which is in bucket 0, to another bucket.
fn in_bucket(bucket: u8, range: &ByteRange) -> ByteRange {
    let of_bucket = |key: &Vec<u8>| {
        let mut key = key.clone();
        if let Some(salt) = key.first_mut() {
            *salt += bucket;
        }
        key
    };
    // An end after bucket 0 is the start of bucket 1; after bucket 255 there is no end.
    let end = range.end.as_ref().filter(|end| end.first().is_none_or(|salt| salt.checked_add(bucket).is_some()));
    ByteRange { start: of_bucket(&range.start), end: end.map(of_bucket) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KeyPart;
    use crate::range::{normalize, skip_scan};
    use types::DataType;

    fn number(value: i32) -> Datum {
        Datum::Int4(value)
    }

    /// Restrictions of one part: none, one value, lists, comparisons.
    fn restrictions(part: usize) -> Vec<Vec<Condition>> {
        let compare = |op, value| Condition::Compare { part, op, value };
        let list = |values: &[i32]| Condition::In { part, values: values.iter().copied().map(number).collect() };
        vec![
            vec![],
            vec![compare(CompareOp::Eq, number(7))],
            vec![compare(CompareOp::Eq, number(-1))],
            vec![compare(CompareOp::Eq, number(i32::MAX))],
            vec![list(&[9, -3, 9, 10])],
            vec![list(&[4, 4])],
            vec![list(&[])],
            vec![compare(CompareOp::Ge, number(5))],
            vec![compare(CompareOp::Gt, number(i32::MAX))],
            vec![compare(CompareOp::Ge, number(i32::MIN))],
            vec![compare(CompareOp::Le, number(5)), compare(CompareOp::Gt, number(-5))],
            vec![compare(CompareOp::Lt, number(5)), compare(CompareOp::Gt, number(5))],
            vec![compare(CompareOp::Lt, number(i32::MIN + 1))],
            vec![compare(CompareOp::Eq, number(7)), compare(CompareOp::Ge, number(7))],
            vec![compare(CompareOp::Lt, Datum::Null)],
            vec![compare(CompareOp::Ne, number(7))],
        ]
    }

    #[test]
    fn it_gives_what_the_long_way_gives() {
        let (plain, down) = (KeyPart::ascending(DataType::Integer), KeyPart::descending(DataType::Integer));
        let nullable = KeyPart { nullable: true, ..plain };
        let mut short = 0;
        for parts in [vec![plain, plain], vec![down, plain], vec![plain, down], vec![nullable, nullable], vec![plain]] {
            for salt_buckets in [None, Some(3), Some(256)] {
                let schema = KeySchema { parts: parts.clone(), salt_buckets, salted_by_row: false };
                for first in restrictions(0) {
                    for second in restrictions(1).iter().filter(|second| parts.len() > 1 || second.is_empty()) {
                        for conditions in [[first.as_slice(), second].concat(), [second, first.as_slice()].concat()] {
                            let Some(found) = ranges(&schema, &conditions, &RangeLimits::default()) else { continue };
                            let boxes = normalize::conjunction(&schema, &conditions, 10_000);
                            let long = skip_scan::ranges(&schema, &boxes, &RangeLimits::default());
                            assert_eq!(found, long, "{schema:?} {conditions:?}");
                            short += 1;
                        }
                    }
                }
            }
        }
        assert!(short > 500, "{short}");
    }
}
