//! Several processes on one store with row-level atomicity: each follows the changes of others, and finishes or undoes
//! changes that others left in progress.

use crate::world::{column, create, new_table, open, shown};
use catalog::{CatalogCache, CatalogError, Counting, FOLLOW, NewSequence, Sequence};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use store::{Clock, ManualClock, Store, StoreError, TableId, Timestamp};
use store_testkit::{FaultPlan, FaultStore, LimitedStore, ModelStore, Point, Without};
use types::{DataType, Datum};

fn shared() -> Arc<dyn Store> {
    Arc::new(LimitedStore::new(Arc::new(ModelStore::new()), Without::everything()))
}

/// A process whose calls fail according to its plan.
fn process(store: &Arc<dyn Store>) -> (Arc<dyn Store>, FaultPlan) {
    let plan = FaultPlan::new();
    (Arc::new(FaultStore::new(Arc::clone(store), plan.clone())), plan)
}

fn gone() -> StoreError {
    StoreError::Io { action: "write".into(), reason: "the process died".into() }
}

/// A change with all kinds of steps: storages created and dropped, rows written and deleted.
async fn change(cache: &CatalogCache) -> Result<(), CatalogError> {
    let (old, truncated) = {
        let catalog = cache.current();
        let oid = |name: &str| catalog.table("public", name).map(|table| table.oid);
        (oid("old"), oid("kept"))
    };
    cache
        .change(|draft| {
            draft.create_schema("s")?;
            draft.create_table(new_table("new"))?;
            draft.drop_table(old.ok_or(CatalogError::ChangedElsewhere)?)?;
            draft.truncate(truncated.ok_or(CatalogError::ChangedElsewhere)?)?;
            Ok(())
        })
        .await
}

/// Checks that every storage of the catalog exists, and no other one below the next id.
async fn storages_are_those_of_the_catalog(store: &Arc<dyn Store>, cache: &CatalogCache) {
    let named: BTreeSet<u32> = cache.current().tables().map(|table| table.storage_id().0).collect();
    let mut there = BTreeSet::new();
    for storage in 16..40 {
        if store.regions(TableId(storage)).await.is_ok() {
            there.insert(storage);
        }
    }
    assert_eq!(there, named);
}

async fn prepared() -> (Arc<dyn Store>, String) {
    let store = shared();
    let cache = open(&store).await;
    create(&cache, new_table("old")).await.unwrap();
    create(&cache, new_table("kept")).await.unwrap();
    let before = names(&cache);
    (store, before)
}

fn names(cache: &CatalogCache) -> String {
    let catalog = cache.current();
    let tables: Vec<_> = catalog.tables().map(|table| (table.name.clone(), table.storage_id().0)).collect();
    format!("{:?} {tables:?}", catalog.schemas().map(|schema| schema.name.clone()).collect::<Vec<_>>())
}

#[tokio::test]
async fn a_process_that_dies_between_any_two_steps_of_a_change_leaves_all_of_it_or_nothing() {
    let (store, before) = prepared().await;
    let cache = open(&store).await;
    change(&cache).await.unwrap();
    let after = names(&cache);
    let (mut undone, mut done, mut steps) = (0, 0, 0);
    for point in [Point::Apply, Point::AfterApply] {
        for step in 1.. {
            let (store, _) = prepared().await;
            let (faulty, plan) = process(&store);
            let dying = open(&faulty).await;
            plan.fail_from(point, step, gone());
            let struck = change(&dying).await.is_err();
            drop(dying);
            let cache = open(&store).await;
            let found = names(&cache);
            assert!([&before, &after].contains(&&found), "{point:?} {step}: {found}");
            storages_are_those_of_the_catalog(&store, &cache).await;
            // The catalog can still be changed.
            create(&cache, new_table("later")).await.unwrap();
            assert_eq!(shown(&open(&store).await.current()), shown(&cache.current()));
            if !struck {
                break;
            }
            steps += 1;
            if found == before { undone += 1 } else { done += 1 }
        }
    }
    // At least: log, two tables, decide, five rows, publish, two drops, clear.
    assert!(steps >= 2 * 12 && undone >= 1 && done >= 10, "{steps} {undone} {done}");
}

#[tokio::test]
async fn a_table_that_the_store_refuses_undoes_the_change() {
    let (store, before) = prepared().await;
    let (faulty, plan) = process(&store);
    let cache = open(&faulty).await;
    // Fails the third write, after the intent and the first table.
    let refusal = StoreError::TooLarge { what: "rowkey", bytes: 9, limit: 1 };
    plan.fail(Point::Apply, 3, refusal.clone());
    assert_eq!(change(&cache).await, Err(CatalogError::Store(refusal)));
    assert_eq!(names(&cache), before);
    storages_are_those_of_the_catalog(&store, &cache).await;
    change(&cache).await.unwrap();
    assert_eq!(shown(&open(&store).await.current()), shown(&cache.current()));
    storages_are_those_of_the_catalog(&store, &cache).await;
}

#[tokio::test]
async fn a_change_is_followed_by_the_other_process() {
    let store = shared();
    let (first, second) = (open(&store).await, open(&store).await);
    let table = create(&first, new_table("t")).await.unwrap();
    second.follow_now().await.unwrap();
    assert_eq!(shown(&second.current()), shown(&first.current()));
    // Based on an outdated version: refused, and the retry succeeds.
    create(&first, new_table("u")).await.unwrap();
    assert_eq!(create(&second, new_table("v")).await.unwrap_err(), CatalogError::ChangedElsewhere);
    create(&second, new_table("v")).await.unwrap();
    first.follow_now().await.unwrap();
    assert_eq!(shown(&second.current()), shown(&first.current()));
    // Before a commit, the written tables are checked.
    let epochs = BTreeMap::from([(table.storage_id(), table.version)]);
    second.check_epochs(&epochs).await.unwrap();
    let added = column("c", DataType::Integer);
    first.change(|draft| draft.add_column(table.oid, added, Datum::Null)).await.unwrap();
    assert_eq!(second.check_epochs(&epochs).await, Err(CatalogError::ChangedElsewhere));
}

#[tokio::test]
async fn a_statement_waits_for_the_look_that_another_has_begun() {
    let store = shared();
    let (first, (slow, plan)) = (open(&store).await, process(&store));
    let clock = Arc::new(ManualClock::default());
    let second = CatalogCache::open_with_clock(slow, Arc::clone(&clock) as Arc<dyn Clock>).await.unwrap();
    create(&first, new_table("t")).await.unwrap();
    clock.set(Timestamp(u64::try_from(FOLLOW.as_millis()).unwrap()));
    plan.delay(Point::Get, 20);
    let follow = async || {
        second.follow().await.unwrap();
        assert_eq!(shown(&second.current()), shown(&first.current()));
    };
    tokio::join!(follow(), follow());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn processes_that_change_the_catalog_at_the_same_time_lose_nothing() {
    let store = shared();
    let task = |process: usize| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            let cache = open(&store).await;
            for n in 0..6 {
                loop {
                    match create(&cache, new_table(&format!("t{process}_{n}"))).await {
                        Ok(_) => break,
                        Err(CatalogError::ChangedElsewhere) => {}
                        Err(other) => panic!("{other}"),
                    }
                }
            }
        })
    };
    for task in [0, 1, 2, 3].map(task) {
        task.await.unwrap();
    }
    let cache = open(&store).await;
    let catalog = cache.current();
    assert_eq!(catalog.tables().count(), 24);
    let storages: BTreeSet<_> = catalog.tables().map(|table| table.storage_id()).collect();
    assert_eq!(storages.len(), 24);
    storages_are_those_of_the_catalog(&store, &cache).await;
}

fn numbers() -> NewSequence {
    NewSequence {
        schema: "public".into(),
        name: "s".into(),
        counting: Counting {
            ty: DataType::BigInt,
            start: 1,
            increment: 1,
            min: 1,
            max: i64::MAX,
            cache: 1,
            cycle: false,
        },
        owner: None,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_processes_never_draw_the_same_value_of_a_sequence() {
    let store = shared();
    let first = open(&store).await;
    let sequence: Arc<Sequence> = first.change(|draft| draft.create_sequence(numbers())).await.unwrap();
    let task = |store: Arc<dyn Store>, sequence: Arc<Sequence>| {
        tokio::spawn(async move {
            let cache = open(&store).await;
            let mut values = Vec::new();
            for n in 0..60 {
                values.extend(cache.sequence_values().next(&sequence, 1 + n % 40).await.unwrap());
                tokio::task::yield_now().await;
            }
            values
        })
    };
    let tasks: Vec<_> = (0..4).map(|_| task(Arc::clone(&store), Arc::clone(&sequence))).collect();
    let (mut all, mut count) = (BTreeSet::new(), 0);
    for task in tasks {
        let values = task.await.unwrap();
        assert!(values.is_sorted_by(|a, b| a < b), "within a process they ascend");
        count += values.len();
        all.extend(values);
    }
    assert_eq!(all.len(), count);
    // A process that has allocated values before continues after another process's setval() when its own values are
    // used up.
    let (a, b) = (open(&store).await, open(&store).await);
    a.sequence_values().next(&sequence, 1).await.unwrap();
    b.sequence_values().set(&sequence, 1_000_000, true).await.unwrap();
    let drawn = a.sequence_values().next(&sequence, 5000).await.unwrap();
    assert!(drawn.last() > Some(&1_000_000), "{:?}", drawn.last());
}

#[tokio::test]
async fn a_sequence_that_another_process_dropped_is_told() {
    let store = shared();
    let (first, second) = (open(&store).await, open(&store).await);
    let sequence = first.change(|draft| draft.create_sequence(numbers())).await.unwrap();
    second.sequence_values().next(&sequence, 1).await.unwrap();
    second.follow_now().await.unwrap();
    first.follow_now().await.unwrap();
    first.change(|draft| draft.drop_relations(&[sequence.oid], false)).await.unwrap();
    assert_eq!(second.sequence_values().next(&sequence, 5000).await, Err(CatalogError::ChangedElsewhere));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_processes_never_draw_the_same_row_id() {
    let store = shared();
    let task = |store: Arc<dyn Store>| {
        tokio::spawn(async move {
            let cache = open(&store).await;
            let mut ids = Vec::new();
            for n in 0..100_u32 {
                ids.extend(cache.row_ids().reserve(n % 7 + 1).await.unwrap());
                tokio::task::yield_now().await;
            }
            ids
        })
    };
    let tasks: Vec<_> = (0..8).map(|_| task(Arc::clone(&store))).collect();
    let (mut all, mut count) = (BTreeSet::new(), 0);
    for task in tasks {
        let ids = task.await.unwrap();
        count += ids.len();
        all.extend(ids);
    }
    assert_eq!(all.len(), count);
    // In sequence: each process gets its own node while the marks of the others lie ahead of the clock.
    let node = |id: i64| (id >> 12) & 0x1FF;
    let first = open(&store).await.row_ids().next().await.unwrap();
    let second = open(&store).await.row_ids().next().await.unwrap();
    assert_ne!(node(first), node(second));
}
