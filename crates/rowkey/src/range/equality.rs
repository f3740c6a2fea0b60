//! The short cut for `a = 1 AND b = 2 ...` over the first parts of the key, which point reads take each time.
//!
//! It gives what `normalize` and `skip_scan` would give, without their boxes; whatever is less plain is left to them.

use super::bound::successor;
use super::condition::{Access, ByteRange, CompareOp, Condition, KeyRanges, RangeLimits};
use crate::KeySchema;
use types::Datum;

/// Most parts that are looked at here.
const MAX_PARTS: usize = 16;

/// `None`: not that case.
pub(crate) fn ranges(schema: &KeySchema, conditions: &[Condition], limits: &RangeLimits) -> Option<KeyRanges> {
    let parts = schema.parts.len();
    let count = conditions.len();
    let full = count == parts;
    if count == 0 || count > parts || count > MAX_PARTS || limits.max_ranges < 256 {
        return None;
    }
    let values = values_by_part(conditions)?;
    let mut key = Vec::with_capacity(64);
    key.extend(schema.salt_buckets.map(|_| 0));
    for (index, (part, value)) in schema.parts.iter().zip(values.into_iter().take(count)).enumerate() {
        // A value that is no exact value of the part (2.5 for an integer) fails here and takes the long way.
        part.encode(index, value?, &mut key).ok()?;
    }
    let (ranges, buckets) = match (schema.salt_buckets, full) {
        (None, _) => (vec![range_of(key, full)], None),
        (Some(_), true) => {
            let bucket = schema.salt_of(schema.unsalted(&key))?;
            *key.first_mut()? = bucket;
            (vec![range_of(key, true)], Some(vec![bucket]))
        }
        (Some(count), false) => {
            let buckets: Vec<u8> = (0..count).filter_map(|bucket| u8::try_from(bucket).ok()).collect();
            (buckets.iter().map(|bucket| range_of(in_bucket(*bucket, &key), false)).collect(), Some(buckets))
        }
    };
    let access = if full { Access::Points(1) } else { Access::Range };
    Some(KeyRanges { ranges, exact: vec![true; count], access, parts_used: count, equal_parts: count, buckets })
}

/// The values in key order; `None` when the conditions are not one equality for each of the first parts.
fn values_by_part(conditions: &[Condition]) -> Option<[Option<&Datum>; MAX_PARTS]> {
    let mut values = [None; MAX_PARTS];
    for condition in conditions {
        let Condition::Compare { part, op: CompareOp::Eq, value } = condition else { return None };
        let slot = values.get_mut(*part).filter(|slot| slot.is_none() && *part < conditions.len())?;
        if value.is_null() {
            return None;
        }
        *slot = Some(value);
    }
    Some(values)
}

fn in_bucket(bucket: u8, salted: &[u8]) -> Vec<u8> {
    let mut key = salted.to_vec();
    if let Some(salt) = key.first_mut() {
        *salt = bucket;
    }
    key
}

fn range_of(start: Vec<u8>, point: bool) -> ByteRange {
    let end = if point { Some([start.as_slice(), &[0]].concat()) } else { successor(&start) };
    ByteRange { start, end }
}
