//! Keys and rows of maximum size, and beyond.

use super::fixture::{FAMILY, Fixture, TABLE, expected, number, numbered, replace, replace_in, row, skip};
use std::sync::Arc;
use store::{KeyRange, OnDuplicate, PointRead, Store, StoreError};

/// Larger limits are not tested, because that would need too much memory.
const TRIED_FRAGMENT_BYTES: usize = 128 << 20;

/// A key of maximum length is found by gets and scans.
pub async fn a_key_at_the_limit_is_stored(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    let longest = vec![b'k'; f.store.capabilities().max_key_bytes];
    f.write(vec![replace(&longest, 1), replace(&longest[1..], 2)]).await.unwrap();
    let found = f.store.get_row(TABLE, FAMILY, &longest, &f.snapshot().await).await.unwrap();
    assert_eq!(found.as_deref().map(number), Some(1));
    let scanned = f.scan(super::fixture::ranges(vec![KeyRange::prefix("k")])).await;
    assert_eq!(scanned.numbers(), [2, 1]);
    assert_eq!(scanned.keys, [longest[1..].to_vec(), longest]);
}

/// The error contains the length and the limit; nothing is written.
pub async fn a_key_over_the_limit_is_refused(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    let limit = f.store.capabilities().max_key_bytes;
    let key = vec![b'k'; limit + 1];
    let refused = Err(StoreError::TooLarge { what: "rowkey", bytes: limit + 1, limit });
    assert_eq!(f.write(vec![replace(&key, 1)]).await, refused);
    assert_eq!(f.rows().await, expected(&[]));
    if f.store.capabilities().bulk_load {
        let mut load = f.store.bulk_load(TABLE, OnDuplicate::Fail).await.unwrap();
        assert_eq!(load.write(FAMILY, &key, &row(1)).await.map(|()| store::CommitNo(0)), refused);
    }
    // Reading a key over the limit is no error: the row does not exist.
    assert_eq!(f.store.get_row(TABLE, FAMILY, &key, &f.snapshot().await).await, Ok(None));
}

/// As [`a_key_over_the_limit_is_refused`].
pub async fn a_fragment_over_the_limit_is_refused(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    let limit = f.store.capabilities().max_fragment_bytes;
    if limit > TRIED_FRAGMENT_BYTES {
        return skip("the limit is too far away to be tried");
    }
    let mut fragment = row(1);
    fragment.resize(limit + 1, 0);
    let refused = f.write(vec![replace_in(TABLE, "a", fragment)]).await;
    assert_eq!(refused, Err(StoreError::TooLarge { what: "row", bytes: limit + 1, limit }));
    assert_eq!(f.rows().await, expected(&[]));
}

/// A batch of 20,000 rows.
pub async fn a_large_batch_is_applied(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    f.put_numbered(20_000).await;
    assert_eq!(f.scan(super::fixture::all()).await.count, 20_000);
    assert_eq!(f.get(&numbered(19_999)).await, Some(19_999));
}
