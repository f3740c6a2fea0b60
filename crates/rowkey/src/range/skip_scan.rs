//! Converts boxes to byte ranges: the cross product of the leading parts.
//!
//! ```text
//!   a IN (1,2)   b BETWEEN 5 AND 7   c = 3          key (a, b, c)
//!   -> [1,5 .. 1,8)  [2,5 .. 2,8)                   c comes after an interval: it must be checked on each row
//! ```

use super::bound::successor;
use super::condition::{Access, ByteRange, KeyRanges, RangeLimits};
use super::interval::{Interval, PartSet};
use super::normalize::{Conjunction, KeyBox};
use crate::KeySchema;

/// A range of keys without salt byte.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Run {
    start: Vec<u8>,
    end: Option<Vec<u8>>,
    /// Whether it is a single full key, `start`.
    point: bool,
}

/// The ranges of all boxes, using as many key parts as the limits allow.
pub(crate) fn ranges(schema: &KeySchema, conjunction: &Conjunction, limits: &RangeLimits) -> KeyRanges {
    let buckets = usize::from(schema.salt_buckets.unwrap_or(1));
    let boxes: Vec<&KeyBox> = conjunction.boxes.iter().map(|one| &one.key_box).collect();
    let (depth, limit) = depth_within(schema, &boxes, buckets, limits);
    let mut runs = Vec::new();
    for key_box in &boxes {
        emit(key_box, depth, schema.parts.len(), &mut Vec::new(), 0, &mut runs);
    }
    let runs = merge(runs);
    let widened = runs.iter().map(|run| if has_bucket(schema, run) { 1 } else { buckets }).sum::<usize>() > limit;
    // A widened point may touch the next run, so the runs are merged again.
    let runs = if widened { merge(widen(runs, (limit / buckets).max(1))) } else { runs };
    let covered: Vec<usize> = boxes.iter().map(|key_box| covered(key_box, depth)).collect();
    KeyRanges {
        exact: exact_conditions(conjunction, &covered, widened),
        access: access(schema, &runs),
        parts_used: covered.iter().copied().max().unwrap_or(0),
        equal_parts: equal_parts(&boxes, &covered),
        buckets: schema.salt_buckets.map(|count| buckets_of(schema, count, &runs)),
        ranges: salted(schema, runs),
    }
}

/// The number of leading parts that the ranges of a box restrict: up to the first interval or unrestricted part.
fn covered(key_box: &KeyBox, depth: usize) -> usize {
    for (part, set) in key_box.sets.iter().enumerate().take(depth) {
        match set {
            PartSet::All => return part,
            PartSet::Within(intervals) if intervals.iter().all(|interval| interval.point) => {}
            PartSet::Within(_) => return part + 1,
        }
    }
    depth.min(key_box.sets.len())
}

/// The number of ranges of a box at this depth, before merging.
fn count(key_box: &KeyBox, depth: usize) -> usize {
    let sizes = key_box.sets.iter().take(covered(key_box, depth)).map(|set| match set {
        PartSet::All => 1,
        PartSet::Within(intervals) => intervals.len(),
    });
    sizes.fold(1, usize::saturating_mul)
}

/// The greatest depth at which the number of ranges is within a limit, and that limit; depth 1 if none is.
fn depth_within(schema: &KeySchema, boxes: &[&KeyBox], buckets: usize, limits: &RangeLimits) -> (usize, usize) {
    let parts = schema.parts.len();
    let limit = limits.max_ranges.max(1);
    let sum =
        |of_box: &dyn Fn(&KeyBox) -> usize| boxes.iter().map(|key_box| of_box(key_box)).fold(0, usize::saturating_add);
    let listed = sum(&longest_list);
    let fitting = |depth: usize| {
        let ranges = sum(&|key_box| {
            let full_keys = covered(key_box, depth) == parts && is_points(key_box);
            count(key_box, depth).saturating_mul(if full_keys && !schema.salted_by_row { 1 } else { buckets })
        });
        let multiplied = sum(&|key_box| count(key_box, depth)) > listed;
        let allowed = if multiplied { limit } else { limit.max(limits.max_listed) };
        (ranges <= allowed).then_some((depth, allowed))
    };
    (1..=parts).rev().find_map(fitting).unwrap_or((1, limit))
}

/// The maximum number of intervals of one part in a box.
fn longest_list(key_box: &KeyBox) -> usize {
    let restricted = key_box.sets.iter().map(|set| match set {
        PartSet::All => 1,
        PartSet::Within(intervals) => intervals.len(),
    });
    restricted.max().unwrap_or(1)
}

fn is_points(key_box: &KeyBox) -> bool {
    let points = |set: &PartSet| matches!(set, PartSet::Within(intervals) if intervals.iter().all(|i| i.point));
    key_box.sets.iter().all(points)
}

/// Appends the runs of `key_box` whose first `part` parts are `prefix`.
fn emit(key_box: &KeyBox, depth: usize, parts: usize, prefix: &mut Vec<u8>, part: usize, runs: &mut Vec<Run>) {
    let set = key_box.sets.get(part).filter(|_| part < depth);
    let Some(PartSet::Within(intervals)) = set else {
        return runs.push(Run { start: prefix.clone(), end: successor(prefix), point: part == parts });
    };
    let length = prefix.len();
    for interval in intervals {
        if interval.point {
            prefix.extend_from_slice(&interval.start);
            emit(key_box, depth, parts, prefix, part + 1, runs);
            prefix.truncate(length);
        } else {
            runs.push(run_of(prefix, interval));
        }
    }
}

fn run_of(prefix: &[u8], interval: &Interval) -> Run {
    let join = |bytes: &Vec<u8>| [prefix, bytes].concat();
    let end = interval.end.as_ref().map_or_else(|| successor(prefix), |end| Some(join(end)));
    Run { start: join(&interval.start), end, point: false }
}

/// Sorts the runs and merges overlapping and adjacent ones. Adjacent points stay separate for point reads.
fn merge(mut runs: Vec<Run>) -> Vec<Run> {
    runs.sort();
    let only_points = runs.iter().all(|run| run.point);
    let mut merged: Vec<Run> = Vec::with_capacity(runs.len());
    for next in runs {
        match merged.last_mut() {
            Some(last) if overlaps(last, &next) || (!only_points && touches(last, &next)) => join(last, next),
            _ => merged.push(next),
        }
    }
    merged
}

fn overlaps(last: &Run, next: &Run) -> bool {
    last.end.as_ref().is_none_or(|end| next.start < *end)
}

/// Whether no key is between the two: `next` starts where `last` ends, or only zero bytes later, because a key in
/// between would be a prefix of another key.
fn touches(last: &Run, next: &Run) -> bool {
    let gap = last.end.as_ref().and_then(|end| next.start.strip_prefix(end.as_slice()));
    gap.is_some_and(|gap| gap.iter().all(|byte| *byte == 0))
}

fn join(last: &mut Run, next: Run) {
    last.point &= next.point && last.start == next.start;
    last.end = match (last.end.take(), next.end) {
        (Some(a), Some(b)) => Some(a.max(b)),
        _ => None,
    };
}

/// Merges groups of neighbours, including the gaps, until at most `allowed` runs are left.
fn widen(runs: Vec<Run>, allowed: usize) -> Vec<Run> {
    let size = runs.len().div_ceil(allowed);
    let group = |group: &[Run]| {
        let (first, last) = (group.first()?, group.last()?);
        Some(Run { start: first.start.clone(), end: last.end.clone(), point: first.point && group.len() == 1 })
    };
    runs.chunks(size).filter_map(group).collect()
}

/// A condition is exact if each box restricts every part that the condition restricts in it.
fn exact_conditions(conjunction: &Conjunction, covered: &[usize], widened: bool) -> Vec<bool> {
    let mut exact = conjunction.exact.clone();
    // Without boxes there are no rows, so every condition holds.
    let Some(least) = covered.iter().copied().min() else { return vec![true; exact.len()] };
    let holds = |mask: u128, covered: usize| mask & !first_parts(covered) == 0 && (!widened || mask == 0);
    for (flag, mask) in exact.iter_mut().zip(&conjunction.masks) {
        *flag &= holds(*mask, least);
    }
    for (one, covered) in conjunction.boxes.iter().zip(covered) {
        for (condition, mask) in &one.masks {
            if let Some(flag) = exact.get_mut(*condition) {
                *flag &= holds(*mask, *covered);
            }
        }
    }
    exact
}

/// The mask of the first `count` parts.
fn first_parts(count: usize) -> u128 {
    u32::try_from(count).ok().and_then(|bits| 1_u128.checked_shl(bits)).map_or(u128::MAX, |bit| bit - 1)
}

fn access(schema: &KeySchema, runs: &[Run]) -> Access {
    match runs {
        [] => Access::Empty,
        [one] if one.start.is_empty() && one.end.is_none() => Access::Full,
        _ if runs.iter().all(|run| run.point) => {
            let buckets = schema.salt_buckets.filter(|_| schema.salted_by_row);
            Access::Points(runs.len().saturating_mul(buckets.map_or(1, usize::from)))
        }
        [_] => Access::Range,
        _ => Access::SkipScan,
    }
}

/// The number of leading parts with the same single value in every box.
fn equal_parts(boxes: &[&KeyBox], covered: &[usize]) -> usize {
    let Some((first, others)) = boxes.split_first() else { return 0 };
    let kept = covered.iter().copied().min().unwrap_or(0);
    let is_equal = |(part, set): &(usize, &PartSet)| match set {
        PartSet::Within(intervals) => {
            matches!(intervals.as_slice(), [Interval { point: true, .. }])
                && others.iter().all(|other| other.sets.get(*part) == Some(*set))
        }
        PartSet::All => false,
    };
    first.sets.iter().enumerate().take(kept).take_while(is_equal).count()
}

/// The bucket of a run whose key determines it: a point, unless the salt is not a function of the key.
fn bucket_of(schema: &KeySchema, run: &Run) -> Option<u8> {
    schema.salt_of(&run.start).filter(|_| run.point)
}

/// Whether a run is one range.
fn has_bucket(schema: &KeySchema, run: &Run) -> bool {
    schema.salt_buckets.is_none() || bucket_of(schema, run).is_some()
}

/// The buckets that the runs are read from: all of them for a run without a bucket of its own.
fn buckets_of(schema: &KeySchema, count: u16, runs: &[Run]) -> Vec<u8> {
    let touched: Option<Vec<u8>> = runs.iter().map(|run| bucket_of(schema, run)).collect();
    let mut touched = touched.unwrap_or_else(|| all_buckets(count).collect());
    touched.sort_unstable();
    touched.dedup();
    touched
}

fn all_buckets(count: u16) -> impl Iterator<Item = u8> {
    (0..count).filter_map(|bucket| u8::try_from(bucket).ok())
}

/// Converts runs to ranges of whole keys: points in their bucket, other runs in every bucket.
fn salted(schema: &KeySchema, runs: Vec<Run>) -> Vec<ByteRange> {
    let Some(count) = schema.salt_buckets else {
        return runs.into_iter().map(range_of).collect();
    };
    if access(schema, &runs) == Access::Full {
        return vec![ByteRange::all()];
    }
    let mut keyed = Vec::with_capacity(runs.len() * usize::from(count));
    for run in &runs {
        match bucket_of(schema, run) {
            Some(bucket) => keyed.push(in_bucket(bucket, run)),
            None => keyed.extend(all_buckets(count).map(|bucket| in_bucket(bucket, run))),
        }
    }
    merge(keyed).into_iter().map(range_of).collect()
}

fn in_bucket(bucket: u8, run: &Run) -> Run {
    let join = |bytes: &[u8]| [&[bucket], bytes].concat();
    let end = run.end.as_deref().map_or_else(|| successor(&[bucket]), |end| Some(join(end)));
    Run { start: join(&run.start), end, point: run.point }
}

/// The end of a point is its key followed by a zero byte, which `ByteRange::as_point` recognizes.
fn range_of(run: Run) -> ByteRange {
    let end = if run.point { Some([run.start.as_slice(), &[0]].concat()) } else { run.end };
    ByteRange { start: run.start, end }
}
