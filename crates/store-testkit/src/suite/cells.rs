//! Reads and writes of single rows.

use super::fixture::{
    FAMILY, Fixture, TABLE, batch, delete, expected, key, number, replace, replace_in, row, unstamped,
};
use std::sync::Arc;
use store::{CommitNo, Durability, KeyRange, PointRead, ReadAt, ScanRequest, Store, Timestamp};

/// A written row is read back unchanged.
pub async fn a_row_is_read_back(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    assert_eq!((f.get("a").await, f.newest("a").await), (None, None));
    f.put(&[("a", 1)]).await;
    assert_eq!((f.get("a").await, f.newest("a").await), (Some(1), Some(1)));
    assert_eq!((f.get("b").await, f.get("").await, f.get("aa").await), (None, None, None));
}

/// Keys may be repeated, missing, and in any order.
pub async fn many_rows_are_answered_in_the_order_asked(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    f.put_numbered(300).await;
    let snapshot = f.snapshot().await;
    let wanted = (0..400u64).map(|i| i * 37 % 400).chain([5, 5]).collect::<Vec<_>>();
    let keys: Vec<_> = wanted.iter().map(|number| key(super::fixture::numbered(*number))).collect();
    let keys: Vec<&[u8]> = keys.iter().map(AsRef::as_ref).collect();
    let found = f.store.get(TABLE, FAMILY, &keys, ReadAt::Snapshot(&snapshot)).await.unwrap();
    let found: Vec<_> = found.iter().map(|fragment| fragment.as_deref().map(number)).collect();
    let expected: Vec<_> = wanted.iter().map(|&number| (number < 300).then_some(number)).collect();
    assert_eq!(found, expected);
    assert_eq!(
        f.store.get(TABLE, FAMILY, &[], ReadAt::Snapshot(&snapshot)).await.unwrap(),
        Vec::<Option<store::Bytes>>::new()
    );
}

/// The writer's stamp is overwritten.
pub async fn the_store_stamps_each_fragment(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    let mut fragment = row(5);
    fragment::stamp(&mut fragment, Timestamp(u64::MAX), CommitNo(u64::MAX)).unwrap();
    let commit = f.write(vec![replace_in(TABLE, "a", fragment)]).await.unwrap();
    for found in [
        f.store.get_newest(TABLE, FAMILY, b"a").await.unwrap().unwrap(),
        f.store.get_row(TABLE, FAMILY, b"a", &f.snapshot().await).await.unwrap().unwrap(),
        f.scan(super::fixture::all()).await.fragments[0].clone(),
    ] {
        assert_eq!(unstamped(&found), row(5));
        assert_eq!(fragment::header::commit_of(&found), Some(commit));
        assert_ne!(fragment::header::timestamp_of(&found), Some(Timestamp(u64::MAX)));
    }
}

/// Timestamps are monotonic.
pub async fn timestamps_never_step_back(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    let mut last = Timestamp(0);
    for number in 0..20 {
        f.put(&[("a", number)]).await;
        let found = f.store.get_newest(TABLE, FAMILY, b"a").await.unwrap().unwrap();
        let at = fragment::header::timestamp_of(&found).unwrap();
        assert!(at >= last, "{at:?} after {last:?}");
        last = at;
    }
}

/// After several replacements the last one is read.
pub async fn a_replaced_row_is_the_last_one(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    for number in [3, 1, 2] {
        f.put(&[("a", number)]).await;
        assert_eq!(f.get("a").await, Some(number));
    }
    assert_eq!(f.rows().await, expected(&[("a", 2)]));
}

/// Invisible to every read; the key can be written again.
pub async fn a_deleted_row_is_gone(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    f.put(&[("a", 1), ("b", 2)]).await;
    f.write(vec![delete("a")]).await.unwrap();
    assert_eq!((f.get("a").await, f.newest("a").await), (None, None));
    assert_eq!(f.rows().await, expected(&[("b", 2)]));
    f.put(&[("a", 3)]).await;
    assert_eq!(f.rows().await, expected(&[("a", 3), ("b", 2)]));
}

/// Deleting a missing row is no error and creates no row.
pub async fn deleting_nothing_is_fine(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    f.write(vec![delete("a"), delete("a")]).await.unwrap();
    assert_eq!(f.rows().await, expected(&[]));
}

/// Keys are ordered by bytes. A key may be a prefix of another, and may be empty.
pub async fn keys_may_have_any_bytes(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    let mut keys: Vec<Vec<u8>> =
        vec![vec![], vec![0], vec![0, 0], vec![0, 0xFF], vec![0xFF], vec![0xFF; 9], vec![b'a', 0]];
    keys.extend((0..=255u8).map(|byte| vec![b'a', byte, 0xFF]));
    f.write(keys.iter().zip(0..).map(|(key, number)| replace(key, number)).collect()).await.unwrap();
    let snapshot = f.snapshot().await;
    for (key, expected) in keys.iter().zip(0..) {
        let found = f.store.get_row(TABLE, FAMILY, key, &snapshot).await.unwrap().expect("the row");
        assert_eq!(number(&found), expected, "key {key:02X?}");
        let point = ScanRequest::new(TABLE, FAMILY, vec![KeyRange::point(key.clone())]);
        assert_eq!(f.scan(point).await.numbers(), [expected], "key {key:02X?}");
    }
    let mut sorted = keys.clone();
    sorted.sort();
    assert_eq!(f.scan(super::fixture::all()).await.keys, sorted);
}

/// Read by gets and scans, between small rows.
pub async fn a_fragment_of_a_mebibyte_is_read_back(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    let mut large = Vec::new();
    let value: Vec<u8> = (0..1 << 20).map(|i: u32| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    fragment::encode_sparse(7, &[(3, &value)], &mut large).unwrap();
    let mutations = vec![replace("a", 1), replace_in(TABLE, "b", large.clone()), replace("c", 3)];
    let commit = f.store.apply(batch(mutations), Durability::Sync).await.unwrap();
    f.store.sync(commit).await.unwrap();
    let found = f.store.get_newest(TABLE, FAMILY, b"b").await.unwrap().unwrap();
    assert!(unstamped(&found) == large);
    let scanned = f.scan(super::fixture::all()).await;
    assert_eq!((number(&scanned.fragments[0]), number(&scanned.fragments[2])), (1, 3));
    assert!(unstamped(&scanned.fragments[1]) == large);
}

/// A row exists if it has a fragment, even without cells.
pub async fn a_fragment_without_cells_is_a_row(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    let mut empty = Vec::new();
    fragment::encode_sparse(7, &[], &mut empty).unwrap();
    f.write(vec![replace_in(TABLE, "a", empty.clone())]).await.unwrap();
    let scanned = f.scan(super::fixture::all()).await;
    assert_eq!((scanned.count, unstamped(&scanned.fragments[0])), (1, empty));
}
