//! Scans: ranges, order, limits and results.

use super::fixture::{
    FAMILY, Fixture, TABLE, all, delete, expected, expected_numbered, number, numbered, range, ranges, replace,
};
use std::sync::Arc;
use store::{KeyRange, ScanRequest, Store};

/// Independent of the order of writing.
pub async fn rows_come_in_key_order(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    for step in 0..10 {
        let rows = (0..100).map(|i| (i * 370 + step * 37) % 1000).map(|number| replace(numbered(number), number));
        f.write(rows.collect()).await.unwrap();
    }
    assert_eq!(f.rows().await, expected_numbered(0..1000));
}

/// For every list of ranges and every batch size.
pub async fn a_reverse_scan_is_the_mirror_image(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    f.put_numbered(1000).await;
    f.write((0..1000).step_by(7).map(|number| delete(numbered(number))).collect()).await.unwrap();
    let lists = [
        vec![KeyRange::all()],
        vec![range("0100", "0200"), range("0300", "0301"), range("0900", "2")],
        (0..200).map(|i| KeyRange::point(numbered(i * 3))).collect(),
    ];
    for list in lists {
        for batch_rows in [1, 7, 8192] {
            let forward = ScanRequest { batch_rows, ..ranges(list.clone()) };
            let mut rows = f.scan(forward.clone()).await.rows();
            rows.reverse();
            assert_eq!(f.scan(ScanRequest { reverse: true, ..forward }).await.rows(), rows);
        }
    }
}

/// The start is inclusive, the end exclusive.
pub async fn ends_of_ranges_are_half_open(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    f.put(&[("a", 1), ("b", 2), ("ba", 3), ("c", 4)]).await;
    for (list, numbers) in [
        (vec![range("a", "b")], vec![1]),
        (vec![range("a", "ba")], vec![1, 2]),
        (vec![range("aa", "c")], vec![2, 3]),
        (vec![range("a", "b"), range("b", "c")], vec![1, 2, 3]),
        (vec![KeyRange::point("b")], vec![2]),
        (vec![KeyRange::prefix("b")], vec![2, 3]),
        (vec![KeyRange { start: "b".into(), end: None }], vec![2, 3, 4]),
        (vec![range("", "b")], vec![1]),
    ] {
        let scanned = f.scan(ranges(list.clone())).await;
        assert_eq!(scanned.numbers(), numbers, "{list:?}");
        let mut backwards = f.scan(ScanRequest { reverse: true, ..ranges(list.clone()) }).await.numbers();
        backwards.reverse();
        assert_eq!(backwards, numbers, "{list:?} in reverse");
    }
}

/// In both directions.
pub async fn a_limit_ends_the_scan(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    f.put_numbered(300).await;
    for limit in [0, 1, 7, 299, 300, 301] {
        for batch_rows in [1, 10, 8192] {
            let request = ScanRequest { limit: Some(limit), batch_rows, ..all() };
            assert_eq!(f.scan(request.clone()).await.numbers(), (0..limit.min(300)).collect::<Vec<_>>());
            let reverse = f.scan(ScanRequest { reverse: true, ..request }).await.numbers();
            assert_eq!(reverse, (0..300).rev().take(limit as usize).collect::<Vec<_>>());
        }
    }
}

/// The limit applies to the whole scan.
pub async fn a_limit_counts_over_ranges(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    f.put_numbered(100).await;
    let list = vec![range("0010", "0013"), range("0020", "0023"), range("0030", "0033")];
    let request = ScanRequest { limit: Some(5), ..ranges(list) };
    assert_eq!(f.scan(request.clone()).await.numbers(), [10, 11, 12, 20, 21]);
    assert_eq!(f.scan(ScanRequest { reverse: true, ..request.clone() }).await.numbers(), [32, 31, 30, 22, 21]);
    assert_eq!(f.scan(ScanRequest { keys: false, values: false, ..request }).await.count, 5);
}

/// The pattern of a skip scan: short ranges, most with rows, some empty, over overwritten rows.
pub async fn hundreds_of_ranges_are_one_scan(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    f.put_numbered(2000).await;
    f.write((0..2000).step_by(3).map(|number| replace(numbered(number), number)).collect()).await.unwrap();
    f.write((3..2000).step_by(20).map(|number| delete(numbered(number))).collect()).await.unwrap();
    // 0003..0005, 0008..0010, ..., with empty ranges in between.
    let pair = |i: u64| {
        let nothing = format!("{:04}x", i * 5 + 1);
        [range(&nothing, &format!("{nothing}x")), range(&numbered(i * 5 + 3), &numbered(i * 5 + 5))]
    };
    let list: Vec<_> = (0..400).flat_map(pair).collect();
    let inside = |number: &u64| number % 5 >= 3 && number % 20 != 3;
    let rows = expected_numbered((0..2000).filter(inside));
    assert_eq!(f.scan(ranges(list.clone())).await.rows(), rows);
    let mut reversed = f.scan(ScanRequest { reverse: true, ..ranges(list.clone()) }).await.rows();
    reversed.reverse();
    assert_eq!(reversed, rows);
    let count = f.scan(ScanRequest { keys: false, values: false, ..ranges(list) }).await.count;
    assert_eq!(count, rows.len());
}

/// Also an empty list of ranges and an empty table.
pub async fn ranges_that_hold_nothing_yield_nothing(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    assert_eq!(f.scan(all()).await.count, 0);
    f.put(&[("b", 1), ("d", 2)]).await;
    for list in [vec![], vec![range("", "b")], vec![range("c", "d")], vec![range("e", "f"), range("g", "h")]] {
        for reverse in [false, true] {
            let scanned = f.scan(ScanRequest { reverse, ..ranges(list.clone()) }).await;
            assert_eq!(scanned.count, 0, "{list:?}");
        }
    }
}

/// Keys, fragments, both, or only the number of rows.
pub async fn only_what_is_wanted_is_handed_out(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    f.put_numbered(100).await;
    let snapshot = f.snapshot().await;
    for reverse in [false, true] {
        for (keys, values) in [(false, false), (true, false), (false, true), (true, true)] {
            let request =
                ScanRequest { keys, values, reverse, ..ranges(vec![range("0020", "0050"), range("0070", "0075")]) };
            let scanned = f.scan_at(request, &snapshot).await;
            let mut numbers: Vec<u64> = (20..50).chain(70..75).collect();
            if reverse {
                numbers.reverse();
            }
            assert_eq!(scanned.count, 35);
            if keys {
                assert_eq!(scanned.keys, numbers.iter().map(|&number| numbered(number)).collect::<Vec<_>>());
            }
            if values {
                assert_eq!(scanned.numbers(), numbers);
            }
        }
    }
}

/// For any batch size. Rows are never repeated.
pub async fn batches_are_never_empty(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    f.put_numbered(257).await;
    for batch_rows in [0, 1, 2, 100, 257, 1_000_000] {
        let scanned = f.scan(ScanRequest { batch_rows, ..all() }).await;
        assert_eq!(scanned.rows(), expected_numbered(0..257), "batches of {batch_rows}");
        assert!(scanned.batches >= 1);
    }
}

/// Even if the store still keeps their versions.
pub async fn deleted_and_overwritten_rows_come_once(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    let held = f.snapshot().await;
    for round in 0..5 {
        f.put(&[("a", round), ("b", round), ("c", round)]).await;
        f.write(vec![delete("b")]).await.unwrap();
    }
    assert_eq!(f.rows().await, expected(&[("a", 4), ("c", 4)]));
    let count = f.scan(ScanRequest { keys: false, values: false, ..all() }).await.count;
    assert_eq!(count, 2);
    if f.store.capabilities().store_snapshots() {
        assert_eq!(f.rows_at(&held).await, expected(&[]));
    }
}

/// A full scan has read all rows, a limited one has not.
pub async fn counters_count(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    f.put_numbered(1000).await;
    let snapshot = f.snapshot().await;
    let mut scan = f.store.scan(all(), &snapshot).await.unwrap();
    while scan.next().await.unwrap().is_some() {}
    let counters = scan.counters();
    assert_eq!((counters.rows_read, counters.rows_returned), (1000, 1000));
    assert!(counters.seeks >= 1 && counters.bytes_read >= 1000 * 24, "{counters:?}");
    assert!(counters.block_rows <= counters.rows_read);
    let list = (0..10).map(|i| KeyRange::point(numbered(i * 100))).collect();
    let mut points = f.store.scan(ScanRequest::new(TABLE, FAMILY, list), &snapshot).await.unwrap();
    while points.next().await.unwrap().is_some() {}
    let counters = points.counters();
    assert_eq!(counters.rows_returned, 10);
    assert!(counters.rows_read < 1000, "points read {} rows", counters.rows_read);
}

/// Another scan can be started afterwards.
pub async fn a_scan_may_be_dropped_half_way(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    f.put_numbered(1000).await;
    let snapshot = f.snapshot().await;
    for _ in 0..20 {
        let mut scan = f.store.scan(ScanRequest { batch_rows: 10, ..all() }, &snapshot).await.unwrap();
        let first = scan.next().await.unwrap().unwrap();
        assert_eq!(first.fragments().map(number).next(), Some(0));
    }
    assert_eq!(f.rows().await.len(), 1000);
}
