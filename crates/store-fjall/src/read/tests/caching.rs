//! Which blocks scans leave in the block cache.

use super::bed::{Bed, Form, Kind, collect, fragment, request};
use crate::read::get;
use std::fs;
use store::{KeyRange, ScanRequest};

const ROWS: u32 = 20_000;

/// About 2.5 MB in blocks of 4 KiB.
fn bed(cache: u64) -> Bed {
    let mut bed = Bed::with_cache(Kind { block_bytes: 4096, ..Kind::OWN }, cache);
    bed.ingest((0..ROWS).map(|n| (key(n), fragment(n.wrapping_mul(2_654_435_761), 80, Form::Dense))).collect());
    bed
}

fn key(n: u32) -> Vec<u8> {
    n.to_be_bytes().to_vec()
}

fn everything() -> ScanRequest {
    ScanRequest { keys: false, ..request(vec![KeyRange::all()]) }
}

#[test]
fn the_first_long_scan_leaves_little_in_the_cache_and_each_later_one_a_quarter_of_what_has_room() {
    for reverse in [false, true] {
        let bed = bed(64 << 20);
        let scan = || assert_eq!(collect(&bed.source(), ScanRequest { reverse, ..everything() }).rows, ROWS as usize);
        scan();
        let first = bed.db.cache_size();
        assert!(first < 400 << 10, "{first}");
        let held = [(); 4].map(|()| {
            scan();
            bed.db.cache_size()
        });
        let [second, _, _, all] = held;
        assert!(all > 2 << 20, "{held:?}");
        assert!((all / 5..all / 2).contains(&second), "{held:?}");
        assert!(held.is_sorted_by(|before, after| before < after), "{held:?}");
        scan();
        assert_eq!(bed.db.cache_size(), all);
    }
}

#[test]
fn a_tree_that_cannot_stay_keeps_a_part_in_half_of_the_cache() {
    let bed = bed(1 << 20);
    for _ in 0..6 {
        assert_eq!(collect(&bed.source(), everything()).rows, ROWS as usize);
    }
    let held = bed.db.cache_size();
    assert!((100 << 10..900 << 10).contains(&held), "{held}");
}

#[test]
fn rows_that_points_read_stay_in_the_cache_through_scans() {
    let bed = bed(1 << 20);
    let hot: Vec<u32> = (0..40).map(|n| n * (ROWS / 40)).collect();
    let read =
        |n: &u32| get(&bed.source(), [key(*n).as_slice()].into_iter()).map(|found| found.iter().all(Option::is_some));
    for _ in 0..3 {
        assert!(hot.iter().all(|n| read(n).unwrap()));
    }
    for _ in 0..10 {
        collect(&bed.source(), everything());
    }
    // The files are overwritten in place, so that only cached blocks can be read.
    let tables = bed.keyspace.path().join("tables");
    for file in fs::read_dir(tables).unwrap() {
        let path = file.unwrap().path();
        let zeros = vec![0; fs::metadata(&path).unwrap().len().try_into().unwrap()];
        fs::write(&path, zeros).unwrap();
    }
    let warm = hot.iter().filter(|n| read(n).is_ok_and(|found| found)).count();
    assert!(warm * 10 >= hot.len() * 9, "{warm} of {}", hot.len());
    assert!((0..ROWS).step_by(97).any(|n| read(&n).is_err()), "the file is gone");
}
