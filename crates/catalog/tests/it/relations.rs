//! Views and sequences: names, dependencies, values after a crash.

use crate::catalog::{
    CatalogCache, CatalogError, ColumnId, Counting, NewColumn, NewKeyPart, NewSequence, NewTable, NewView,
    RelationKind, Sequence, SequenceOwner, TableOid, ViewColumn, ViewRead,
};
use std::sync::Arc;
use store::Store;
use store_testkit::ModelStore;
use types::DataType;

async fn open() -> (Arc<dyn Store>, Arc<CatalogCache>) {
    let store: Arc<dyn Store> = Arc::new(ModelStore::new());
    let cache = CatalogCache::open(Arc::clone(&store)).await.unwrap();
    (store, cache)
}

fn table(name: &str) -> NewTable {
    let mut new = NewTable::new("public", name);
    new.columns = vec![NewColumn::new("k", DataType::Integer), NewColumn::new("v", DataType::Text)];
    new.key = vec![NewKeyPart::ascending("k")];
    new
}

fn view(name: &str, relation: TableOid, columns: &[u16]) -> NewView {
    NewView {
        schema: "public".into(),
        name: name.into(),
        columns: vec![ViewColumn { name: "k".into(), ty: DataType::Integer }],
        query: "SELECT k FROM t".into(),
        search_path: vec!["public".into()],
        reads: vec![ViewRead { relation, columns: columns.iter().copied().map(ColumnId).collect() }],
    }
}

fn sequence(name: &str, min: i64, max: i64, cycle: bool) -> NewSequence {
    let counting = Counting { ty: DataType::BigInt, start: min, increment: 1, min, max, cache: 1, cycle };
    NewSequence { schema: "public".into(), name: name.into(), counting, owner: None }
}

#[tokio::test]
async fn what_views_read_cannot_go_without_them() {
    let (store, cache) = open().await;
    let t = cache.change(|draft| draft.create_table(table("t"))).await.unwrap();
    let v = cache.change(|draft| draft.create_view(view("v", t.oid, &[1]))).await.unwrap();
    let w = cache.change(|draft| draft.create_view(view("w", v.oid, &[]))).await.unwrap();
    let taken = cache.change(|draft| draft.create_table(table("v"))).await;
    assert_eq!(taken.unwrap_err(), CatalogError::DuplicateTable { name: "v".into() });

    let refused = cache.change(|draft| draft.drop_relations(&[t.oid], false)).await;
    let dependents = vec!["view v".to_owned(), "view w".to_owned()];
    assert_eq!(refused.unwrap_err(), CatalogError::DependentObjects { what: "table t".into(), dependents });
    // A column that no view reads can be dropped, and so can a view that no other view reads.
    cache.change(|draft| draft.drop_column(t.oid, "v", false)).await.unwrap();
    cache.change(|draft| draft.drop_relations(&[w.oid], false)).await.unwrap();

    let cache = CatalogCache::open(store).await.unwrap();
    let dropped = cache.change(|draft| draft.drop_relations(&[t.oid], true)).await.unwrap();
    assert_eq!(dropped, ["view v"]);
    assert_eq!(cache.current().views().count(), 0);
}

#[tokio::test]
async fn a_schema_is_renamed_with_what_is_in_it() {
    let (store, cache) = open().await;
    cache.change(|draft| draft.create_schema("a")).await.unwrap();
    cache.change(|draft| draft.create_schema("b")).await.unwrap();
    let mut new = table("t");
    new.schema = "a".into();
    let t = cache.change(|draft| draft.create_table(new)).await.unwrap();
    let taken = cache.change(|draft| draft.rename_schema("a", "b")).await;
    assert_eq!(taken.unwrap_err(), CatalogError::DuplicateSchema { name: "b".into() });
    cache.change(|draft| draft.rename_schema("a", "c")).await.unwrap();
    let cache = CatalogCache::open(store).await.unwrap();
    assert_eq!(cache.current().table("c", "t").unwrap().oid, t.oid);
    assert!(cache.current().schema("a").is_none());
    cache.change(|draft| draft.create_view(view("v", t.oid, &[1]))).await.unwrap();
    let refused = cache.change(|draft| draft.rename_schema("c", "d")).await;
    assert!(matches!(refused, Err(CatalogError::Unsupported { .. })), "{refused:?}");
}

#[tokio::test]
async fn no_value_comes_twice_after_a_crash() {
    let (store, cache) = open().await;
    let s: Arc<Sequence> =
        cache.change(|draft| draft.create_sequence(sequence("s", 1, i64::MAX, false))).await.unwrap();
    let mut last = 0;
    for round in 0..5 {
        // A crash: the cache is not closed, so values allocated in memory are lost.
        let cache = CatalogCache::open(Arc::clone(&store)).await.unwrap();
        for count in [1, 3, 40 * round] {
            for value in cache.sequence_values().next(&s, count).await.unwrap() {
                assert!(value > last, "{value} after {last}");
                last = value;
            }
        }
    }
    assert!(last < 2000, "{last}: marks lie too far ahead");
}

#[tokio::test]
async fn a_new_increment_makes_a_new_mark_and_an_orderly_end_loses_no_values() {
    let (store, cache) = open().await;
    let s = cache.change(|draft| draft.create_sequence(sequence("s", 1, i64::MAX, false))).await.unwrap();
    assert_eq!(cache.sequence_values().next(&s, 2).await.unwrap(), [1, 2]);
    let by_ten = cache.change(|draft| {
        draft.alter_sequence(s.oid, |it| {
            it.increment = 10;
            Ok(())
        })
    });
    let by_ten = by_ten.await.unwrap();
    assert_eq!(cache.sequence_values().next(&by_ten, 5).await.unwrap(), [12, 22, 32, 42, 52]);
    // A crash.
    let cache = CatalogCache::open(Arc::clone(&store)).await.unwrap();
    let first = cache.sequence_values().next(&by_ten, 1).await.unwrap()[0];
    assert!(first > 52, "{first}");
    cache.sequence_values().release().await.unwrap();
    let cache = CatalogCache::open(store).await.unwrap();
    assert_eq!(cache.sequence_values().next(&by_ten, 1).await.unwrap(), [first + 10]);
}

#[tokio::test]
async fn a_sequence_ends_or_begins_again() {
    let (_, cache) = open().await;
    let ends = cache.change(|draft| draft.create_sequence(sequence("e", 1, 3, false))).await.unwrap();
    let cycles = cache.change(|draft| draft.create_sequence(sequence("c", 1, 3, true))).await.unwrap();
    let values = cache.sequence_values();
    assert_eq!(values.next(&ends, 3).await.unwrap(), [1, 2, 3]);
    let error = CatalogError::SequenceExhausted { name: "e".into(), which: "maximum", limit: 3 };
    assert_eq!(values.next(&ends, 1).await.unwrap_err(), error);
    assert_eq!(values.next(&cycles, 7).await.unwrap(), [1, 2, 3, 1, 2, 3, 1]);
    values.set(&ends, 2, true).await.unwrap();
    assert_eq!((values.last(&ends), values.next(&ends, 1).await.unwrap()), (Some(2), vec![3]));
    values.set(&ends, 2, false).await.unwrap();
    assert_eq!((values.last(&ends), values.next(&ends, 1).await.unwrap()), (None, vec![2]));
    assert!(matches!(values.set(&ends, 4, true).await, Err(CatalogError::SequenceBounds { .. })));
    let again = cache.change(|draft| {
        draft.alter_sequence(ends.oid, |it| {
            (it.first, it.generation) = (1, it.generation + 1);
            Ok(())
        })
    });
    assert_eq!(values.next(&again.await.unwrap(), 2).await.unwrap(), [1, 2]);
}

#[tokio::test]
async fn a_sequence_goes_with_its_column() {
    let (_, cache) = open().await;
    let s = cache.change(|draft| draft.create_sequence(sequence("s", 1, 9, false))).await.unwrap();
    let mut new = table("t");
    new.columns[1].sequence = Some(s.oid);
    new.columns[1].default = Some("nextval('s')".into());
    let t = cache.change(|draft| draft.create_table(new)).await.unwrap();
    let refused = cache.change(|draft| draft.drop_relations(&[s.oid], false)).await;
    let dependents = vec!["default value for column v of table t".to_owned()];
    assert_eq!(refused.unwrap_err(), CatalogError::DependentObjects { what: "sequence s".into(), dependents });

    let owner = Some(SequenceOwner { table: t.oid, column: ColumnId(2), identity: true });
    cache
        .change(|draft| {
            draft.alter_sequence(s.oid, |it| {
                it.owner = owner;
                Ok(())
            })
        })
        .await
        .unwrap();
    let refused = cache.change(|draft| draft.drop_relations(&[s.oid], true)).await;
    let (what, by) = ("sequence s".into(), "column v of table t".into());
    assert_eq!(refused.unwrap_err(), CatalogError::RequiredBy { what, by });
    cache.change(|draft| draft.drop_relations(&[t.oid], false)).await.unwrap();
    assert_eq!(cache.current().sequences().count(), 0);
}

#[tokio::test]
async fn a_name_stands_for_one_kind_of_relation() {
    let (_, cache) = open().await;
    let t = cache.change(|draft| draft.create_table(table("t"))).await.unwrap();
    cache.change(|draft| draft.create_view(view("v", t.oid, &[1]))).await.unwrap();
    cache.change(|draft| draft.create_sequence(sequence("s", 1, 9, false))).await.unwrap();
    let catalog = cache.current();
    for (name, kind) in [
        ("t", Some(RelationKind::Table)),
        ("v", Some(RelationKind::View)),
        ("s", Some(RelationKind::Sequence)),
        // The primary key has no separate entries, but its name is taken.
        ("t_pkey", Some(RelationKind::Index)),
        ("k", None),
    ] {
        assert_eq!(catalog.relation_kind("public", name), kind, "{name}");
        assert_eq!(catalog.has_relation("public", name), kind.is_some(), "{name}");
        assert_eq!(catalog.relation_kind("elsewhere", name), None);
    }
}
