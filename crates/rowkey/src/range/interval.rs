//! Sets of encoded values of one key part: sorted disjoint byte intervals.
//!
//! Every bound is between the encodings of two values, so sets can be intersected and merged as bytes. An interval of a
//! single value is flagged as a point: only after a point can the next key part be restricted.

/// `start <= encoding < end`; an `end` of `None` is the end of the part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Interval {
    pub(crate) start: Vec<u8>,
    pub(crate) end: Option<Vec<u8>>,
    /// Whether it has exactly one value, encoded as `start`.
    pub(crate) point: bool,
}

impl Interval {
    /// Returns `None` if the interval is empty.
    pub(crate) fn new(start: Vec<u8>, end: Option<Vec<u8>>) -> Option<Self> {
        end.as_ref().is_none_or(|end| *end > start).then_some(Self { start, end, point: false })
    }

    /// The smallest interval that contains all of the sorted intervals.
    pub(crate) fn around(mut sorted: Vec<Self>) -> Option<Self> {
        let last = sorted.pop()?;
        match sorted.into_iter().next() {
            Some(first) => Self::new(first.start, last.end),
            None => Some(last),
        }
    }

    fn intersect(&self, other: &Self) -> Option<Self> {
        let start = self.start.as_slice().max(&other.start);
        let end = match (self.end.as_deref(), other.end.as_deref()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (end, None) | (None, end) => end,
        };
        let inside = end.is_none_or(|end| end > start);
        inside.then(|| Self { start: start.to_vec(), end: end.map(<[u8]>::to_vec), point: self.point || other.point })
    }

    /// Whether this interval ends before `other` starts.
    fn is_before(&self, other: &Self) -> bool {
        self.end.as_ref().is_some_and(|end| *end <= other.start)
    }

    /// Whether `next`, which starts later, can be merged into this interval. Adjacent points stay separate.
    fn joins(&self, next: &Self) -> bool {
        match &self.end {
            None => true,
            Some(end) => next.start < *end || (next.start == *end && !self.point && !next.point),
        }
    }
}

/// The possible values of one part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PartSet {
    /// Any value, including NULL.
    All,
    /// A value in one of these sorted, disjoint intervals; an empty list matches nothing.
    Within(Vec<Interval>),
}

impl PartSet {
    pub(crate) const NOTHING: Self = Self::Within(Vec::new());

    /// Builds a set from intervals in any order.
    pub(crate) fn of(mut intervals: Vec<Interval>) -> Self {
        intervals.sort_by(|a, b| a.start.cmp(&b.start));
        let mut joined: Vec<Interval> = Vec::with_capacity(intervals.len());
        for next in intervals {
            match joined.last_mut() {
                Some(last) if last.joins(&next) => join(last, next),
                _ => joined.push(next),
            }
        }
        match joined.as_slice() {
            [only] if only.start.is_empty() && only.end.is_none() => Self::All,
            _ => Self::Within(joined),
        }
    }

    pub(crate) fn is_all(&self) -> bool {
        matches!(self, Self::All)
    }

    pub(crate) fn is_nothing(&self) -> bool {
        matches!(self, Self::Within(intervals) if intervals.is_empty())
    }

    /// The union of all sets.
    pub(crate) fn union(sets: Vec<Self>) -> Self {
        let mut all = Vec::with_capacity(sets.len());
        for set in sets {
            match set {
                Self::All => return Self::All,
                Self::Within(intervals) => all.extend(intervals),
            }
        }
        Self::of(all)
    }

    /// The intersection of all sets, computed pairwise in rounds, so that many small sets take no more steps than a
    /// sort.
    pub(crate) fn intersection(mut sets: Vec<Self>) -> Self {
        while sets.len() > 1 {
            let mut rest = sets.into_iter();
            let mut pairs = Vec::with_capacity(rest.len().div_ceil(2));
            while let Some(left) = rest.next() {
                pairs.push(match rest.next() {
                    Some(right) => left.intersect(&right),
                    None => left,
                });
            }
            sets = pairs;
        }
        sets.pop().unwrap_or(Self::All)
    }

    pub(crate) fn intersect(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::All, set) | (set, Self::All) => set.clone(),
            (Self::Within(a), Self::Within(b)) if a.len() <= b.len() => Self::Within(intersect_sorted(a, b)),
            (Self::Within(a), Self::Within(b)) => Self::Within(intersect_sorted(b, a)),
        }
    }
}

fn join(last: &mut Interval, next: Interval) {
    let longer = match (&last.end, &next.end) {
        (Some(a), Some(b)) => b > a,
        (Some(_), None) => true,
        (None, _) => false,
    };
    let same = last.start == next.start && last.end == next.end;
    last.point = same && (last.point || next.point);
    if longer {
        last.point = false;
        last.end = next.end;
    }
}

/// Searches each interval of the shorter list in the longer one: fast for a few values and an IN list of thousands.
fn intersect_sorted(short: &[Interval], long: &[Interval]) -> Vec<Interval> {
    let mut common = Vec::with_capacity(short.len());
    for interval in short {
        let first = long.partition_point(|other| other.is_before(interval));
        let candidates = long.iter().skip(first).take_while(|other| !interval.is_before(other));
        common.extend(candidates.filter_map(|other| interval.intersect(other)));
    }
    common
}
