//! Regions, splits and sizes.

use super::fixture::{FAMILY, Fixture, OTHER, all, create_split, expected_numbered, numbered, range, replace_in, row};
use std::sync::Arc;
use store::{KeyRange, ScanRequest, Store};

/// Regions have no gaps, are in key order and have distinct ids.
pub async fn regions_are_made_from_splits(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    f.tables(vec![create_split(OTHER, &["b", "m", "x"])]).await.unwrap();
    let regions = f.store.regions(OTHER).await.unwrap();
    let open = |start: &str, end: Option<&str>| KeyRange {
        start: super::fixture::key(start),
        end: end.map(super::fixture::key),
    };
    let ranges: Vec<_> = regions.iter().map(|region| region.range.clone()).collect();
    assert_eq!(ranges, [open("", Some("b")), open("b", Some("m")), open("m", Some("x")), open("x", None)]);
    let mut ids: Vec<_> = regions.iter().map(|region| region.id).collect();
    ids.extend(f.store.regions(super::fixture::TABLE).await.unwrap().iter().map(|region| region.id));
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 5, "no two regions have the same id");
}

/// Region borders do not affect scans.
pub async fn scans_cross_regions(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    f.tables(vec![create_split(OTHER, &["0100", "0200", "0250"])]).await.unwrap();
    f.write((0..300).map(|number| replace_in(OTHER, numbered(number), row(number))).collect()).await.unwrap();
    let request = |list| ScanRequest::new(OTHER, FAMILY, list);
    assert_eq!(f.scan(request(vec![KeyRange::all()])).await.rows(), expected_numbered(0..300));
    let across = request(vec![range("0090", "0110"), range("0190", "0260")]);
    let rows = f.scan(across.clone()).await.rows();
    assert_eq!(rows, expected_numbered((90..110).chain(190..260)));
    let reverse = ScanRequest { reverse: true, limit: Some(75), ..across };
    assert_eq!(f.scan(reverse).await.rows(), expected_numbered((190..260).rev().chain((105..110).rev())));
}

/// For every number of pieces, with and without rows and region borders.
pub async fn split_pieces_are_exactly_the_ranges(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    f.tables(vec![create_split(OTHER, &["0500", "1000"])]).await.unwrap();
    for filled in [false, true] {
        if filled {
            f.write((0..2000).map(|number| replace_in(OTHER, numbered(number), row(number))).collect()).await.unwrap();
            f.store.flush(OTHER, false).await.unwrap();
        }
        for list in [
            vec![KeyRange::all()],
            vec![range("0010", "0020")],
            vec![KeyRange::point("0500"), range("0600", "0601"), range("0999", "1001"), range("1500", "3")],
            (0..300).map(|i| range(&numbered(i * 5), &numbered(i * 5 + 1))).collect(),
        ] {
            let whole = f.scan(ScanRequest::new(OTHER, FAMILY, list.clone())).await.rows();
            for pieces in [1, 2, 3, 16] {
                let cut = f.store.split(OTHER, FAMILY, &list, pieces).await.unwrap();
                assert!(!cut.is_empty() && cut.len() <= pieces, "{} pieces of at most {pieces}", cut.len());
                assert!(cut.iter().all(|piece| !piece.is_empty() && piece.iter().all(|range| !range.is_empty())));
                assert_eq!(joined(cut.concat()), joined(list.clone()), "{pieces} pieces");
                let mut rows = Vec::new();
                for piece in cut {
                    rows.extend(f.scan(ScanRequest::new(OTHER, FAMILY, piece)).await.rows());
                }
                assert_eq!(rows, whole);
            }
        }
    }
}

/// No ranges give no pieces.
pub async fn splitting_nothing_gives_nothing(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    let pieces = f.store.split(super::fixture::TABLE, FAMILY, &[], 4).await.unwrap();
    assert_eq!(pieces, Vec::<Vec<KeyRange>>::new());
}

/// An estimate may be off by a factor.
pub async fn an_estimate_is_of_the_right_order(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    let table = super::fixture::TABLE;
    let size = async |list: &[KeyRange]| f.store.estimate(table, FAMILY, list).await.unwrap();
    assert_eq!(size(&[]).await.rows, 0);
    f.put_numbered(4000).await;
    f.store.flush(table, true).await.unwrap();
    let whole = size(&[KeyRange::all()]).await;
    assert!((1000..=16_000).contains(&whole.rows), "4000 rows, estimated {}", whole.rows);
    assert!(whole.bytes > 0);
    let part = size(&[range("1000", "1100")]).await;
    assert!(part.rows <= whole.rows, "a part has {} of {}", part.rows, whole.rows);
    assert_eq!(f.scan(all()).await.count, 4000);
}

/// Joins adjacent ranges.
fn joined(ranges: Vec<KeyRange>) -> Vec<KeyRange> {
    let mut joined: Vec<KeyRange> = Vec::new();
    for range in ranges {
        match joined.last_mut().filter(|last| last.end.as_ref() == Some(&range.start)) {
            Some(last) => last.end = range.end,
            None => joined.push(range),
        }
    }
    joined
}
