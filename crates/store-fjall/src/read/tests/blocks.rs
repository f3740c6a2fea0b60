//! Block scans: that they are used, what they count, and how ranges end within blocks.

use super::bed::{Bed, Form, Kind, between, collect, fragment, request};
use store::{KeyRange, Scan};

fn key(n: u32) -> Vec<u8> {
    n.to_be_bytes().to_vec()
}

/// `n` rows in one run.
fn loaded(kind: Kind, n: u32) -> Bed {
    let mut bed = Bed::new(kind);
    bed.ingest((0..n).map(|i| (key(i), fragment(i, 20, Form::Dense))).collect());
    bed
}

#[test]
fn ranges_are_read_from_blocks_forward_and_where_nothing_is_merged_backward() {
    let mut bed = loaded(Kind::OWN, 2000);
    let all = collect(&bed.source(), request(vec![KeyRange::all()]));
    assert_eq!((all.rows, all.counters.rows_read, all.counters.block_rows), (2000, 2000, 2000));
    let few = KeyRange { start: key(10).into(), end: Some(key(14).into()) };
    let mut few = request(vec![few, KeyRange::point(key(20))]);
    let forward = collect(&bed.source(), few.clone());
    assert_eq!((forward.rows, forward.counters.block_rows, forward.counters.seeks), (5, 4, 2));
    few.reverse = true;
    let back = collect(&bed.source(), few.clone());
    assert_eq!((back.rows, back.counters.block_rows), (5, 4));
    assert!(back.keys.iter().rev().eq(&forward.keys));
    // A change outside the range has no effect; one in the range needs the iterator.
    bed.put(key(15), fragment(1, 0, Form::Dense));
    assert_eq!(collect(&bed.source(), few.clone()).counters.block_rows, 4);
    bed.put(key(11), fragment(1, 0, Form::Dense));
    let merged = collect(&bed.source(), few);
    assert_eq!((merged.rows, merged.counters.block_rows), (5, 0));
    assert_eq!(merged.fragments[3], fragment(1, 0, Form::Dense));
}

#[test]
fn a_walk_backward_gives_what_the_walk_forward_gives() {
    for kind in [Kind::OWN, Kind { shared: true, ..Kind::OWN }, Kind { partitioned: true, ..Kind::OWN }] {
        let bed = loaded(kind, 2000);
        for (start, end) in [(0, 2000), (0, 1), (17, 18), (700, 1400), (1990, 3000), (2000, 3000), (15, 16), (31, 33)] {
            let range = KeyRange { start: key(start).into(), end: Some(key(end).into()) };
            let mut wanted = request(vec![range]);
            wanted.batch_rows = 100;
            let forward = collect(&bed.source(), wanted.clone());
            wanted.reverse = true;
            let back = collect(&bed.source(), wanted.clone());
            // With rows of other slots some tables overlap.
            let from_blocks = if kind.shared { 0 } else { u64::from(end.min(2000) - start.min(2000)) };
            assert_eq!(back.counters.block_rows, from_blocks, "{kind:?} {start} {end}");
            assert!(back.keys.iter().rev().eq(&forward.keys), "{kind:?} {start} {end}");
            assert!(back.fragments.iter().rev().eq(&forward.fragments), "{kind:?} {start} {end}");
            wanted.limit = Some(10);
            let last = collect(&bed.source(), wanted);
            assert!(last.keys.iter().eq(back.keys.iter().take(10)), "{kind:?} {start} {end}");
            assert!(last.counters.rows_read <= 10, "{:?}", last.counters);
        }
    }
}

#[test]
fn rows_that_are_only_counted_are_not_read_where_each_entry_is_a_row() {
    for kind in [Kind::OWN, Kind { shared: true, ..Kind::OWN }, Kind { partitioned: true, ..Kind::OWN }] {
        let mut bed = loaded(kind, 2000);
        let mut count = request(vec![KeyRange::all()]);
        (count.keys, count.values) = (false, false);
        let counted = collect(&bed.source(), count.clone());
        assert_eq!((counted.rows, counted.counters.bytes_read), (2000, 0), "{kind:?}");
        let before = bed.source();
        bed.delete(&key(1000));
        bed.put(key(5000), fragment(1, 0, Form::Dense));
        bed.put(key(5001), fragment(1, 0, Form::Dense));
        assert_eq!(collect(&bed.source(), count.clone()).rows, 2001, "{kind:?}");
        assert_eq!(collect(&before, count).rows, 2000, "{kind:?}");
    }
}

#[test]
fn a_filter_that_few_rows_pass_still_gives_each_of_them() {
    let bed = loaded(Kind { block_bytes: 4096, ..Kind::OWN }, 3000);
    let mut wanted = request(vec![KeyRange::all()]);
    wanted.filter = Some(between(777, 778));
    let found = collect(&bed.source(), wanted);
    assert_eq!(found.keys, [key(777), key(778)]);
    assert_eq!(found.fragments, [fragment(777, 20, Form::Dense), fragment(778, 20, Form::Dense)]);
    assert_eq!(found.counters.rows_read, 3000);
}

#[test]
fn rows_older_than_the_base_run_are_neither_lost_nor_newer() {
    let mut bed = Bed::new(Kind::OWN);
    // The older rows are compacted to the lowest level, and the newer run is larger.
    (0..2000).step_by(50).for_each(|i| bed.put(key(i), fragment(i, 0, Form::Dense)));
    bed.flush();
    bed.compact();
    (0..1000).filter(|i| i % 100 != 0).for_each(|i| bed.put(key(i), fragment(i + 1, 0, Form::Dense)));
    bed.delete(&key(0));
    bed.flush();
    let found = collect(&bed.source(), request(vec![KeyRange::all()]));
    assert!(found.counters.block_rows > 0);
    assert!(found.keys.iter().eq(bed.rows.keys()) && found.fragments.iter().eq(bed.rows.values()));
}

#[test]
fn a_limit_ends_a_scan_of_blocks_in_the_middle_of_one() {
    let bed = loaded(Kind::OWN, 2000);
    let mut limited = request(vec![KeyRange::all()]);
    limited.limit = Some(777);
    let found = collect(&bed.source(), limited.clone());
    assert_eq!(found.keys, (0..777).map(key).collect::<Vec<_>>());
    assert!(found.counters.rows_read < 800, "{:?}", found.counters);
    (limited.keys, limited.values) = (false, false);
    assert_eq!(collect(&bed.source(), limited).rows, 777);
}

#[test]
fn batches_are_about_as_long_as_asked_for() {
    let bed = loaded(Kind::OWN, 2000);
    let mut small = request(vec![KeyRange::all()]);
    small.batch_rows = 100;
    let found = collect(&bed.source(), small);
    assert_eq!(found.rows, 2000);
    assert!((15..=20).contains(&found.batches), "{}", found.batches);
}

#[test]
fn a_scan_keeps_its_files_while_compaction_replaces_them() {
    let mut bed = loaded(Kind::OWN, 3000);
    bed.flush();
    let source = bed.source();
    let mut small = request(vec![KeyRange::all()]);
    small.batch_rows = 50;
    let mut scan = crate::read::scan::open(source, small).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut rows = runtime.block_on(scan.next()).unwrap().unwrap().len();
    (0..3000).for_each(|i| bed.put(key(i), fragment(0, 0, Form::Dense)));
    bed.flush();
    bed.compact();
    while let Some(batch) = runtime.block_on(scan.next()).unwrap() {
        assert!(batch.fragments().all(|fragment| fragment.len() == 45), "an old row");
        rows += batch.len();
    }
    assert_eq!(rows, 3000);
}

#[test]
fn a_held_snapshot_finds_what_a_compaction_dropped_meanwhile() {
    let mut bed = loaded(Kind::OWN, 1000);
    (0..1000).for_each(|i| bed.put(key(i), fragment(i, 9, Form::Dense)));
    bed.flush();
    let (held, rows) = (bed.source(), bed.rows.clone());
    // Entries that the snapshot does not see: compaction may drop the entries that it does see because of them.
    (0..500).for_each(|i| bed.put(key(i), fragment(0, 0, Form::Dense)));
    (500..900).for_each(|i| bed.delete(&key(i)));
    bed.flush();
    bed.compact();
    let found = collect(&held, request(vec![KeyRange::all()]));
    assert!(found.keys.iter().eq(rows.keys()) && found.fragments.iter().eq(rows.values()));
    assert_eq!(collect(&bed.source(), request(vec![KeyRange::all()])).rows, 600);
}

#[test]
fn many_versions_of_a_key_are_one_row_and_do_not_hide_its_neighbours() {
    for block_bytes in [256, 16_384] {
        let mut bed = Bed::new(Kind { block_bytes, ..Kind::OWN });
        // Held from the start, so that no version is dropped.
        let _held = bed.source();
        for n in 0..60 {
            for version in 0..if n % 7 == 0 { 50 } else { 1 } {
                bed.put(key(n), fragment(version, 0, Form::Dense));
            }
        }
        bed.flush();
        let found = collect(&bed.source(), request(vec![KeyRange::all()]));
        assert_eq!(found.counters.block_rows, 60);
        assert!(found.keys.iter().eq(bed.rows.keys()) && found.fragments.iter().eq(bed.rows.values()));
    }
}
