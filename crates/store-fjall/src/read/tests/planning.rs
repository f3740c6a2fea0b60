//! Estimates and splits.

use super::bed::{Bed, Form, Kind, collect, fragment, request};
use crate::read::{estimate::estimate, split::split};
use fjall::AbstractTree;
use store::KeyRange;

fn key(n: u32) -> Vec<u8> {
    n.to_be_bytes().to_vec()
}

fn range(start: u32, end: u32) -> KeyRange {
    KeyRange { start: key(start).into(), end: Some(key(end).into()) }
}

fn loaded(kind: Kind) -> Bed {
    let mut bed = Bed::new(kind);
    bed.ingest((0..5000).map(|i| (key(i), fragment(i, 20, Form::Dense))).collect());
    bed
}

const KINDS: [Kind; 3] = [Kind::OWN, Kind { shared: true, ..Kind::OWN }, Kind { partitioned: true, ..Kind::OWN }];

#[test]
fn pieces_are_the_ranges_cut_into_about_equal_parts() {
    for kind in KINDS {
        let bed = loaded(kind);
        let source = bed.source();
        for ranges in [vec![KeyRange::all()], vec![range(100, 600), range(900, 4000)], vec![range(0, 4999)]] {
            let whole = collect(&source, request(ranges.clone()));
            for pieces in [1, 2, 3, 7] {
                let cut = split(&source, &ranges, pieces).unwrap();
                assert_eq!(cut.len(), pieces, "{kind:?} {ranges:?}");
                let parts: Vec<_> = cut.iter().map(|part| collect(&source, request(part.clone()))).collect();
                let fair = whole.rows / pieces;
                assert!(parts.iter().all(|part| part.rows.abs_diff(fair) <= fair / 4 + 20), "{kind:?} {pieces}");
                let keys: Vec<_> = parts.into_iter().flat_map(|part| part.keys).collect();
                assert_eq!(keys, whole.keys);
            }
        }
    }
}

#[test]
fn pieces_join_to_exactly_the_ranges() {
    let bed = loaded(Kind::OWN);
    let ranges =
        vec![range(1, 2), KeyRange::point(key(7)), range(50, 3000), KeyRange { start: key(3500).into(), end: None }];
    let cut = split(&bed.source(), &ranges, 5).unwrap();
    assert!(cut.len() > 1 && cut.iter().all(|piece| !piece.is_empty()));
    let mut joined: Vec<KeyRange> = Vec::new();
    for range in cut.into_iter().flatten() {
        match joined.last_mut() {
            Some(last) if last.end.as_ref() == Some(&range.start) => last.end = range.end,
            _ => joined.push(range),
        }
    }
    assert_eq!(joined, ranges);
}

#[test]
fn many_points_are_dealt_out_evenly() {
    let bed = loaded(Kind::OWN);
    let points: Vec<_> = (0..1000).map(|i| KeyRange::point(key(i * 3))).collect();
    let cut = split(&bed.source(), &points, 4).unwrap();
    assert_eq!(cut.len(), 4);
    assert!(cut.iter().all(|piece| (200..300).contains(&piece.len())));
    assert_eq!(cut.concat(), points);
}

#[test]
fn little_work_is_not_cut() {
    let bed = loaded(Kind::OWN);
    assert_eq!(split(&bed.source(), &[range(5, 9)], 8).unwrap(), [vec![range(5, 9)]]);
    assert_eq!(split(&Bed::new(Kind::OWN).source(), &[KeyRange::all()], 8).unwrap(), [vec![KeyRange::all()]]);
    assert!(split(&bed.source(), &[], 8).unwrap().is_empty());
}

#[test]
fn estimates_are_exact_for_few_rows_in_memory() {
    let mut bed = Bed::new(Kind { shared: true, ..Kind::OWN });
    (0..100).for_each(|i| bed.put(key(i), fragment(i, 0, Form::Dense)));
    assert_eq!(estimate(&bed.source(), &[KeyRange::all()]).unwrap().rows, 100);
    assert_eq!(estimate(&bed.source(), &[range(10, 20), range(30, 35)]).unwrap().rows, 15);
}

fn assert_near(bed: &Bed, ranges: &[KeyRange], rows: u64) {
    let found = estimate(&bed.source(), ranges).unwrap();
    assert!(found.rows.abs_diff(rows) <= rows / 20, "{rows} in {ranges:?}, estimated {found:?}");
    let bytes = rows * fragment(0, 20, Form::Dense).len() as u64;
    assert!((bytes..bytes * 4).contains(&found.bytes), "{bytes} bytes of fragments, estimated {found:?}");
}

#[test]
fn estimates_of_many_rows_in_memory_are_near() {
    for kind in KINDS {
        let mut bed = Bed::new(kind);
        for (from, rows) in [(0, 5000), (5000, 20_000)] {
            (from..rows).for_each(|i| bed.put(key(i), fragment(i, 20, Form::Dense)));
            assert_near(&bed, &[KeyRange::all()], rows.into());
            assert_near(&bed, &[range(1000, 3000)], 2000);
            assert_near(&bed, &[range(0, 400), range(2000, 3000)], 1400);
        }
    }
}

#[test]
fn estimates_have_the_rows_of_sealed_memtables_once() {
    for kind in KINDS {
        let mut bed = Bed::new(kind);
        (0..6000).for_each(|i| bed.put(key(i), fragment(i, 20, Form::Dense)));
        bed.seal();
        assert_near(&bed, &[KeyRange::all()], 6000);
        assert_near(&bed, &[range(1000, 3000)], 2000);
        (6000..10_000).for_each(|i| bed.put(key(i), fragment(i, 20, Form::Dense)));
        assert_near(&bed, &[KeyRange::all()], 10_000);
        assert_near(&bed, &[range(5000, 7000)], 2000);
        bed.seal();
        assert_near(&bed, &[KeyRange::all()], 10_000);
        bed.keyspace.tree.flush(&bed.keyspace.tree.get_flush_lock(), 0).unwrap();
        let found = estimate(&bed.source(), &[KeyRange::all()]).unwrap();
        assert!(found.rows.abs_diff(10_000) < 500, "flushed: {found:?}");
    }
}

#[test]
fn estimates_of_flushed_rows_are_near() {
    for kind in KINDS {
        let bed = loaded(kind);
        let near = |ranges: &[KeyRange], rows: u64| {
            let found = estimate(&bed.source(), ranges).unwrap();
            assert!(found.rows.abs_diff(rows) <= rows / 4 + 150, "{kind:?}: {rows}, estimated {found:?}");
        };
        near(&[KeyRange::all()], 5000);
        near(&[range(1000, 3000)], 2000);
        near(&[range(0, 10), range(2000, 3000)], 1010);
        near(&[KeyRange::point(key(3))], 1);
        assert!(estimate(&bed.source(), &[KeyRange::all()]).unwrap().bytes > 5000 * 4);
    }
}
