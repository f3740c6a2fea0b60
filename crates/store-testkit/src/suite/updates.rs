//! Read-modify-writes of one row.

use super::fixture::{Add, Always, Fixture, Refuse, TABLE, batch, delete, expected, replace, row, skip, update};
use std::sync::Arc;
use store::{Durability, RowChange, Store, StoreError};

/// It is called with `None`.
pub async fn an_update_makes_an_absent_row(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    f.write(vec![update("a", Add(5))]).await.unwrap();
    assert_eq!(f.get("a").await, Some(5));
}

/// Of every kind.
pub async fn an_update_sees_earlier_mutations_of_its_batch(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    f.put(&[("b", 100)]).await;
    let mutations = vec![
        replace("a", 1),
        update("a", Add(10)),
        update("a", Add(20)),
        delete("b"),
        update("b", Add(7)),
        update("c", Add(1)),
        replace("c", 2),
    ];
    f.write(mutations).await.unwrap();
    assert_eq!(f.rows().await, expected(&[("a", 31), ("b", 7), ("c", 2)]));
}

/// A hot row is not slowed to one change per sync.
pub async fn an_update_sees_what_is_not_durable_yet(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    let mut last = None;
    for _ in 0..10 {
        last = Some(f.store.apply(batch(vec![update("a", Add(1))]), Durability::Sync).await.unwrap());
    }
    assert_eq!(f.newest("a").await, Some(10));
    f.store.sync(last.unwrap()).await.unwrap();
    assert_eq!(f.get("a").await, Some(10));
}

/// Then its stamp stays too.
pub async fn an_update_may_keep_the_row(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    f.put(&[("a", 1)]).await;
    let before = f.store.get_newest(TABLE, super::fixture::FAMILY, b"a").await.unwrap();
    f.write(vec![update("a", Always(RowChange::Keep)), update("b", Always(RowChange::Keep))]).await.unwrap();
    assert_eq!(f.store.get_newest(TABLE, super::fixture::FAMILY, b"a").await.unwrap(), before);
    assert_eq!(f.rows().await, expected(&[("a", 1)]));
    // Keeping what an earlier mutation of the batch wrote.
    f.write(vec![replace("a", 2), update("a", Always(RowChange::Keep))]).await.unwrap();
    assert_eq!(f.rows().await, expected(&[("a", 2)]));
}

/// Also one that is not there.
pub async fn an_update_may_delete_the_row(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    f.put(&[("a", 1), ("b", 2)]).await;
    f.write(vec![update("a", Always(RowChange::Delete)), update("c", Always(RowChange::Delete))]).await.unwrap();
    assert_eq!(f.rows().await, expected(&[("b", 2)]));
    f.write(vec![update("b", Always(RowChange::Delete)), update("b", Always(RowChange::Put(row(5))))]).await.unwrap();
    assert_eq!(f.rows().await, expected(&[("b", 5)]));
}

/// The refusal comes back as it was made.
pub async fn a_refused_update_writes_nothing(store: Arc<dyn Store>) {
    if !store.capabilities().atomic_batch {
        return skip("the store has no atomic batches");
    }
    let f = Fixture::new(store).await;
    f.put(&[("b", 2)]).await;
    let refused = f.write(vec![replace("a", 1), delete("b"), replace("b", 4), update("b", Refuse)]).await;
    assert_eq!(refused, Err(StoreError::UpdateRefused("no change of Some(4)".into())));
    assert_eq!((f.rows().await, f.newest("a").await), (expected(&[("b", 2)]), None));
    assert_eq!(f.newest("b").await, Some(2));
}

/// None is lost, whoever comes first.
pub async fn concurrent_increments_all_count(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    let tasks: Vec<_> = (0..8)
        .map(|task| {
            let store = f.store.clone();
            tokio::spawn(async move {
                for step in 0..50 {
                    let durability = if (task + step) % 2 == 0 { Durability::Sync } else { Durability::Buffered };
                    let mutations = vec![update("hot", Add(1)), update(format!("own {task}"), Add(1))];
                    let commit = store.apply(batch(mutations), durability).await.unwrap();
                    if step % 10 == 0 {
                        store.sync(commit).await.unwrap();
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
