//! Random histories: after each, and at each snapshot held in between, every scan returns the rows of the map.

use super::bed::{Bed, Form, Kind, Rows, between, collect, fragment, request};
use crate::read::blocks::{Points, SharedSlice};
use crate::read::{ReadSource, get};
use fragment::Verdict;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use store::{KeyRange, ScanRequest};

/// Few keys, so that most writes replace an older version.
const KEYS: u16 = 300;

#[derive(Clone, Debug)]
enum Step {
    /// Writes this many neighbours from this key on.
    Put(u16, u16, u32, usize, u8),
    Delete(u16, u16),
    /// Writes keys with this distance.
    PutSpread(u16, u32),
    DeleteSpread(u16),
    Ingest(u16, u16, u32),
    Flush,
    Compact,
    HoldSnapshot,
    DropSnapshot,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..KEYS, 1..40_u16, any::<u32>(), 0..60_usize, any::<u8>())
            .prop_map(|(at, n, value, pad, form)| Step::Put(at, n, value, pad, form)),
        3 => (0..KEYS, 1..12_u16).prop_map(|(at, n)| Step::Delete(at, n)),
        2 => (1..40_u16, any::<u32>()).prop_map(|(by, value)| Step::PutSpread(by, value)),
        1 => (5..60_u16).prop_map(Step::DeleteSpread),
        2 => (0..KEYS, 1..200_u16, any::<u32>()).prop_map(|(at, n, value)| Step::Ingest(at, n, value)),
        4 => Just(Step::Flush),
        2 => Just(Step::Compact),
        2 => Just(Step::HoldSnapshot),
        1 => Just(Step::DropSnapshot),
    ]
}

/// Keys of several lengths, some a prefix of others.
fn key(n: u16) -> Vec<u8> {
    let mut key = (n / 3).to_be_bytes().to_vec();
    key.extend(std::iter::repeat_n(n as u8, usize::from(n % 3) * 4));
    key
}

fn form(n: u8) -> Form {
    match n % 8 {
        0 => Form::Null,
        1 => Form::OtherLayout,
        2 => Form::Sparse,
        _ => Form::Dense,
    }
}

fn play(bed: &mut Bed, step: &Step, held: &mut Vec<(ReadSource, Rows)>) {
    match *step {
        Step::Put(at, n, value, pad, forms) => {
            for i in at..(at + n).min(KEYS) {
                let form = form(forms.wrapping_add(i as u8));
                bed.put(key(i), fragment(value.wrapping_add(u32::from(i) << 24), pad, form));
            }
        }
        Step::Delete(at, n) => (at..(at + n).min(KEYS)).for_each(|i| bed.delete(&key(i))),
        Step::PutSpread(by, value) => {
            (0..KEYS).step_by(usize::from(by)).for_each(|i| bed.put(key(i), fragment(value, 20, Form::Dense)));
        }
        Step::DeleteSpread(by) => (0..KEYS).step_by(usize::from(by)).for_each(|i| bed.delete(&key(i))),
        Step::Ingest(at, n, value) => {
            bed.ingest((at..(at + n).min(KEYS)).map(|i| (key(i), fragment(value, 30, Form::Dense))).collect());
        }
        Step::Flush => bed.flush(),
        Step::Compact => bed.compact(),
        Step::HoldSnapshot => held.push((bed.source(), bed.rows.clone())),
        Step::DropSnapshot => drop(held.pop()),
    }
}

/// A random scan request.
#[derive(Clone, Debug)]
struct Question {
    cuts: Vec<(Index, bool, bool)>,
    reverse: bool,
    limit: Option<u64>,
    filter: Option<(u32, u32)>,
    keys: bool,
    values: bool,
    batch_rows: usize,
}

fn question() -> impl Strategy<Value = Question> {
    let cuts = vec((any::<Index>(), any::<bool>(), prop::bool::weighted(0.2)), 0..8);
    let limit = prop::option::weighted(0.3, prop_oneof![1..20_u64, 250..600_u64]);
    let filter = prop::option::weighted(0.4, (any::<u32>(), any::<u32>()));
    let wanted = (any::<bool>(), any::<bool>());
    (cuts, prop::bool::weighted(0.4), limit, filter, wanted, prop_oneof![1..50_usize, Just(8192)]).prop_map(
        |(cuts, reverse, limit, filter, (keys, values), batch_rows)| Question {
            cuts,
            reverse,
            limit,
            filter,
            keys,
            values,
            batch_rows,
        },
    )
}

impl Question {
    /// Sorted, disjoint ranges: some points, some unbounded.
    fn ranges(&self) -> Vec<KeyRange> {
        let mut borders: Vec<_> = self.cuts.iter().map(|(at, _, _)| at.index(usize::from(KEYS)) as u16).collect();
        borders.sort_unstable();
        borders.dedup();
        let mut ranges = Vec::new();
        let mut start: bytes::Bytes = bytes::Bytes::new();
        for (border, (_, inside, point)) in borders.iter().zip(&self.cuts) {
            let end = bytes::Bytes::from(key(*border));
            if *inside && start < end {
                ranges.push(KeyRange { start: start.clone(), end: Some(end.clone()) });
            }
            start = end.clone();
            if *point {
                ranges.push(KeyRange::point(end.clone()));
                start = [end.as_ref(), &[0]].concat().into();
            }
        }
        ranges.push(KeyRange { start, end: None });
        ranges.sort();
        ranges
    }

    fn request(&self) -> ScanRequest {
        let mut request = request(self.ranges());
        request.reverse = self.reverse;
        request.limit = self.limit;
        request.filter = self.filter.map(|(a, b)| between(a.min(b), a.max(b)));
        request.keys = self.keys;
        request.values = self.values;
        request.batch_rows = self.batch_rows;
        request
    }

    fn check(&self, source: &ReadSource, rows: &Rows) {
        let request = self.request();
        let verdict = |fragment: &[u8]| {
            request.filter.as_ref().map_or(Verdict::Pass, |filter| fragment::matches(filter, fragment))
        };
        let inside = |key: &[u8]| request.ranges.iter().any(|range| range.contains(key));
        let mut expected: Vec<_> =
            rows.iter().filter(|(key, row)| inside(key) && verdict(row) != Verdict::Fail).collect();
        if self.reverse {
            expected.reverse();
        }
        if let Some(limit) = self.limit {
            // Undecided rows do not count.
            let passing = expected.iter().enumerate().filter(|(_, (_, row))| verdict(row) == Verdict::Pass);
            let end = passing.map(|(at, _)| at + 1).nth(limit as usize - 1);
            expected.truncate(end.unwrap_or(usize::MAX));
        }
        let found = collect(source, request.clone());
        assert_eq!(found.rows, expected.len(), "{self:?}");
        assert_eq!(found.undecided, expected.iter().any(|(_, row)| verdict(row) == Verdict::Undecided), "{self:?}");
        let keys: Vec<_> = expected.iter().map(|(key, _)| key.to_vec()).collect();
        let fragments: Vec<_> = expected.iter().map(|(_, row)| row.to_vec()).collect();
        assert_eq!(found.keys, if self.keys { keys } else { Vec::new() }, "{self:?}");
        assert_eq!(found.fragments, if self.values { fragments } else { Vec::new() }, "{self:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 200, ..ProptestConfig::with_cases(cases()) })]
    #[test]
    fn every_scan_gives_the_rows_of_its_snapshot(
        (shared, partitioned, large) in (any::<bool>(), any::<bool>(), any::<bool>()),
        steps in vec(step(), 1..30),
        questions in vec(question(), 6),
    ) {
        let mut bed = Bed::new(Kind { shared, partitioned, block_bytes: if large { 1024 } else { 256 } });
        let mut held = Vec::new();
        for step in &steps {
            play(&mut bed, step, &mut held);
        }
        held.push((bed.source(), bed.rows.clone()));
        for (source, rows) in &held {
            questions.iter().for_each(|question| question.check(source, rows));
            check_points(source, rows);
        }
    }
}

/// Single rows, existing or not: from blocks, from the previous block, and with fjall's get; and many rows at once.
fn check_points(source: &ReadSource, rows: &Rows) {
    let (view, mut points) = (source.view(), Points::default());
    for n in (0..KEYS).chain((0..KEYS).rev()) {
        let key = key(n);
        let expected = rows.get(&key).map(Vec::as_slice);
        let near = source.get(&key, view.as_deref(), &mut points).unwrap();
        let alone = source.get(&key, view.as_deref(), &mut Points::default()).unwrap();
        let mut stored = Vec::new();
        source.stored_key_into(&key, &mut stored);
        let plain = source.merged_get(&stored).unwrap();
        for found in [near, alone, plain] {
            assert_eq!(found.as_ref().map(SharedSlice::bytes), expected, "key {n}");
        }
    }
    // Many rows at once: neighbours, distant ones, and repeated ones.
    for apart in [1, 7, 30] {
        let keys: Vec<Vec<u8>> = (0..KEYS).chain(0..KEYS / 2).rev().step_by(apart).map(key).collect();
        let found = get(source, keys.iter().map(Vec::as_slice)).unwrap();
        let expected: Vec<Option<&[u8]>> = keys.iter().map(|key| rows.get(key).map(Vec::as_slice)).collect();
        let found: Vec<Option<&[u8]>> = found.iter().map(Option::as_deref).collect();
        assert_eq!(found, expected, "{apart} apart");
    }
}

/// The number of cases; `BENNU_READ_CASES` sets more for a longer search.
fn cases() -> u32 {
    std::env::var("BENNU_READ_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(40)
}
