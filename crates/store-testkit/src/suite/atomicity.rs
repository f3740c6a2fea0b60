//! Batches: atomic, ordered, conditional.

use super::fixture::{
    FAMILY, Fixture, OTHER, TABLE, batch, create, delete, expect, expected, number, replace, replace_in, row, skip,
};
use std::sync::Arc;
use store::{CommitNo, Durability, FamilyId, Mutation, PointRead, Store, StoreError, WriteBatch};

/// An empty batch also changes nothing.
pub async fn an_empty_batch_returns_the_last_commit(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    let commit = f.put(&[("a", 1)]).await;
    for durability in [Durability::Sync, Durability::Buffered] {
        assert_eq!(f.store.apply(WriteBatch::default(), durability).await.unwrap(), commit);
    }
}

/// Each commit number is larger than the one before.
pub async fn commit_numbers_grow(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    let mut last = CommitNo(0);
    for number in 0..10 {
        let durability = if number % 2 == 0 { Durability::Sync } else { Durability::Buffered };
        let commit = f.store.apply(batch(vec![replace("a", number)]), durability).await.unwrap();
        assert!(commit > last, "{commit} after {last}");
        last = commit;
    }
}

/// Mutations apply in the order of the batch, independent of their kind.
pub async fn the_last_mutation_of_a_row_wins(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    f.put(&[("c", 9)]).await;
    let mutations = vec![
        replace("a", 1),
        replace("a", 2),
        replace("b", 1),
        delete("b"),
        delete("c"),
        replace("c", 3),
        delete("d"),
        replace("d", 1),
        delete("d"),
        replace("d", 4),
    ];
    f.write(mutations).await.unwrap();
    assert_eq!(f.rows().await, expected(&[("a", 2), ("c", 3), ("d", 4)]));
}

/// A reader concurrent to a writer that changes two tables atomically never sees only one change.
pub async fn a_batch_over_tables_is_seen_whole(store: Arc<dyn Store>) {
    if !store.capabilities().atomic_batches() || !store.capabilities().store_snapshots() {
        return skip("the store has no atomic batches, or no snapshots of all tables");
    }
    let f = Fixture::new(store.clone()).await;
    f.tables(vec![create(OTHER)]).await.unwrap();
    let both = |number| batch(vec![replace("a", number), replace_in(OTHER, "b", row(number))]);
    f.commit(both(0)).await.unwrap();
    let writer = tokio::spawn(async move {
        for number in 1..200 {
            let durability = if number % 3 == 0 { Durability::Buffered } else { Durability::Sync };
            let commit = store.apply(both(number), durability).await.unwrap();
            if number % 5 == 0 {
                store.sync(commit).await.unwrap();
            }
        }
    });
    let mut seen = 0;
    while !writer.is_finished() {
        let snapshot = f.store.snapshot(CommitNo(0)).await.unwrap();
        let a = f.store.get_row(TABLE, FAMILY, b"a", &snapshot).await.unwrap().as_deref().map(number);
        let b = f.store.get_row(OTHER, FAMILY, b"b", &snapshot).await.unwrap().as_deref().map(number);
        assert_eq!(a, b);
        assert!(a >= Some(seen), "{a:?} after {seen}");
        seen = a.unwrap();
        tokio::task::yield_now().await;
    }
    writer.await.unwrap();
    assert_eq!(f.get("a").await, Some(199));
}

/// Optimistic writers compare the commit number in the fragment.
pub async fn an_expected_commit_must_be_the_newest(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    let first = f.put(&[("a", 1)]).await;
    let on = |condition, number| WriteBatch { conditions: vec![condition], ..batch(vec![replace("a", number)]) };
    let second = f.commit(on(expect("a", Some(first)), 2)).await.unwrap();
    let failed = f.commit(on(expect("a", Some(first)), 3)).await;
    assert_eq!(failed, Err(StoreError::ConditionFailed { table: TABLE, key: "a".into() }));
    assert_eq!(f.get("a").await, Some(2));
    // Not durable yet, but the newest state.
    let third = f.store.apply(on(expect("a", Some(second)), 4), Durability::Sync).await.unwrap();
    f.store.apply(on(expect("a", Some(third)), 5), Durability::Sync).await.unwrap();
    assert_eq!(f.newest("a").await, Some(5));
    let absent = f.commit(on(expect("b", Some(third)), 6)).await;
    assert_eq!(absent, Err(StoreError::ConditionFailed { table: TABLE, key: "b".into() }));
}

/// `None` holds for keys that were never written and for deleted ones.
pub async fn an_expected_absence_must_hold(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    let insert = |number| WriteBatch { conditions: vec![expect("a", None)], ..batch(vec![replace("a", number)]) };
    f.commit(insert(1)).await.unwrap();
    assert!(matches!(f.commit(insert(2)).await, Err(StoreError::ConditionFailed { .. })));
    f.write(vec![delete("a")]).await.unwrap();
    f.commit(insert(3)).await.unwrap();
    assert_eq!(f.get("a").await, Some(3));
}

/// A batch's own mutations do not affect its conditions.
pub async fn conditions_see_the_state_before_the_batch(store: Arc<dyn Store>) {
    if !store.capabilities().atomic_batches() {
        return skip("the store has no atomic batches");
    }
    let f = Fixture::new(store).await;
    let mutations = vec![replace("a", 1), replace("b", 2)];
    f.commit(WriteBatch { conditions: vec![expect("a", None), expect("b", None)], ..batch(mutations) }).await.unwrap();
    assert_eq!(f.rows().await, expected(&[("a", 1), ("b", 2)]));
}

/// Rows before and after the failed condition are not written.
pub async fn a_failed_condition_writes_nothing(store: Arc<dyn Store>) {
    if !store.capabilities().atomic_batches() {
        return skip("the store has no atomic batches");
    }
    let f = Fixture::new(store).await;
    f.put(&[("b", 1)]).await;
    let conditions = vec![expect("a", None), expect("b", None), expect("c", None)];
    let mutations = vec![replace("a", 2), replace("b", 2), delete("b")];
    let failed = f.commit(WriteBatch { conditions, ..batch(mutations) }).await;
    assert_eq!(failed, Err(StoreError::ConditionFailed { table: TABLE, key: "b".into() }));
    assert_eq!(f.rows().await, expected(&[("b", 1)]));
    assert_eq!(f.newest("a").await, None);
}

/// An invalid mutation at the end fails the whole batch.
pub async fn a_bad_mutation_writes_nothing(store: Arc<dyn Store>) {
    if !store.capabilities().atomic_batches() {
        return skip("the store has no atomic batches");
    }
    let f = Fixture::new(store).await;
    let unknown = Mutation::Delete { table: TABLE, family: FamilyId(9), key: "a".into() };
    let failed = f.write(vec![replace("a", 1), unknown]).await;
    assert_eq!(failed, Err(StoreError::NoSuchFamily { table: TABLE, family: FamilyId(9) }));
    let failed = f.write(vec![replace("a", 1), replace_in(OTHER, "a", row(1))]).await;
    assert_eq!(failed, Err(StoreError::NoSuchTable { table: OTHER }));
    let failed = f.write(vec![replace("a", 1), replace_in(TABLE, "b", vec![1, 2, 3])]).await;
    assert!(failed.is_err(), "a fragment without a header cannot be stamped");
    assert_eq!((f.newest("a").await, f.rows().await), (None, expected(&[])));
}

/// Of concurrent inserts of one key, one wins.
pub async fn concurrent_claims_of_one_key_succeed_once(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    let claims = (0..16u64).map(|number| {
        let store = f.store.clone();
        tokio::spawn(async move {
            let claim = WriteBatch { conditions: vec![expect("a", None)], ..batch(vec![replace("a", number)]) };
            match store.apply(claim, Durability::Sync).await {
                Ok(commit) => store.sync(commit).await.map(|()| Some(number)).unwrap(),
                Err(StoreError::ConditionFailed { .. }) => None,
                Err(other) => panic!("{other}"),
            }
        })
    });
    let mut winners = Vec::new();
    for claim in claims.collect::<Vec<_>>() {
        winners.extend(claim.await.unwrap());
    }
    assert_eq!(winners.len(), 1);
    assert_eq!(f.get("a").await, Some(winners[0]));
}

/// No concurrent read-modify-write with a condition is lost.
pub async fn concurrent_increments_all_count(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    let tasks: Vec<_> = (0..8)
        .map(|task| {
            let f = f.clone();
            tokio::spawn(async move {
                for step in 0..50 {
                    let durability = if (task + step) % 2 == 0 { Durability::Sync } else { Durability::Buffered };
                    let commit = f.add("hot", 1, durability).await;
                    f.add(&format!("own {task}"), 1, durability).await;
                    if step % 10 == 0 {
                        f.store.sync(commit).await.unwrap();
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(f.get("hot").await, Some(400));
    assert_eq!(f.get("own 7").await, Some(50));
}
