//! Lists of key ranges, sorted and disjoint.

use store::KeyRange;

/// The intersection of two sorted lists of disjoint ranges.
pub(crate) fn intersect(left: &[KeyRange], right: &[KeyRange]) -> Vec<KeyRange> {
    let (mut a, mut b) = (left.iter().peekable(), right.iter().peekable());
    let mut both = Vec::new();
    while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
        both.extend(x.intersect(y));
        let x_ends_first = match (&x.end, &y.end) {
            (Some(x), Some(y)) => x <= y,
            (Some(_), None) => true,
            (None, _) => false,
        };
        if x_ends_first {
            a.next();
        } else {
            b.next();
        }
    }
    both
}

/// Groups the ranges by their salt byte.
pub(super) fn by_bucket(ranges: Vec<KeyRange>) -> Vec<Vec<KeyRange>> {
    let mut buckets: Vec<(Option<u8>, Vec<KeyRange>)> = Vec::new();
    for range in ranges {
        let salt = range.start.first().copied();
        match buckets.last_mut() {
            Some((last, list)) if *last == salt => list.push(range),
            _ => buckets.push((salt, vec![range])),
        }
    }
    buckets.into_iter().map(|(_, ranges)| ranges).collect()
}
