//! ALTER TABLE does not touch rows, and ids are never reused.

use crate::world::{column, create, names, new_store, new_table, open};
use catalog::{
    CatalogCache, CatalogError, CatalogResult, Draft, MAX_COLUMNS, NewColumn, NewDefault, NewTable, Table, TableOid,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use types::{DataType, Datum};

async fn table_t() -> (Arc<CatalogCache>, TableOid) {
    let cache = open(&new_store()).await;
    let oid = create(&cache, new_table("t")).await.unwrap().oid;
    (cache, oid)
}

async fn change(
    cache: &CatalogCache,
    change: impl FnOnce(&mut Draft) -> CatalogResult<Arc<Table>>,
) -> CatalogResult<Arc<Table>> {
    let before = cache.current();
    let table = cache.change(change).await?;
    let old = before.table_by_oid(table.oid).unwrap();
    assert_eq!(old.storage, table.storage, "no row is touched");
    assert_eq!(table.version, cache.version());
    Ok(table)
}

#[tokio::test]
async fn an_added_column_gets_a_new_layout_and_the_old_one_stays() {
    let (cache, oid) = table_t().await;
    let new = NewColumn { default: Some("41 + 1".into()), ..column("c", DataType::BigInt) };
    let table = change(&cache, |draft| draft.add_column(oid, new, Datum::Int8(42))).await.unwrap();
    let added = table.column_by_name("c").unwrap();
    assert!(matches!(added.missing, Datum::Int8(42)));
    assert_eq!(names(table.value_columns()), ["a", "b", "c"]);
    assert_eq!(table.layouts.iter().map(|layout| layout.columns.len()).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(table.current_layout_def().unwrap().to_layout().id(), 2);
    assert_eq!(table.layout(1).unwrap().columns().len(), 2);
}

#[tokio::test]
async fn a_column_that_comes_back_under_its_name_is_another_column() {
    let (cache, oid) = table_t().await;
    let old = cache.current().table_by_oid(oid).unwrap().column_by_name("a").unwrap().id;
    cache.change(|draft| draft.drop_column(oid, "a", false)).await.unwrap();
    let dropped = cache.current().table_by_oid(oid).unwrap().clone();
    assert_eq!(names(dropped.visible_columns()), ["k1", "k2", "b"]);
    let back = change(&cache, |draft| draft.add_column(oid, column("a", DataType::Text), Datum::Null)).await.unwrap();
    assert_ne!(back.column_by_name("a").unwrap().id, old);
    assert_eq!(back.layouts.len(), 3);
    assert_eq!(back.layout_def(1).unwrap().columns[0], (old, DataType::Integer), "old rows can still be decoded");
}

#[tokio::test]
async fn key_columns_cannot_be_dropped_nor_change_their_bytes() {
    let (cache, oid) = table_t().await;
    let refused = cache.change(|draft| draft.drop_column(oid, "k1", false)).await;
    let (what, key) = ("column k1 of table t".to_string(), "t_pkey".to_string());
    assert_eq!(refused.unwrap_err(), CatalogError::KeyColumn { what, key });
    let refused = change(&cache, |draft| draft.drop_not_null(oid, "k1")).await;
    assert_eq!(refused.unwrap_err(), CatalogError::InKey { column: "k1".into() });
    change(&cache, |draft| draft.set_not_null(oid, "k1")).await.unwrap();
}

#[tokio::test]
async fn renames_keep_ids() {
    let (cache, oid) = table_t().await;
    let old = Arc::clone(cache.current().table_by_oid(oid).unwrap());
    change(&cache, |draft| draft.rename_column(oid, "k1", "key", &[])).await.unwrap();
    let table = change(&cache, |draft| draft.rename_table(oid, "u", &[])).await.unwrap();
    assert_eq!(names(table.visible_columns()), ["key", "k2", "a", "b"]);
    let ids = |table: &Table| table.columns.iter().map(|column| column.id).collect::<Vec<_>>();
    assert_eq!(ids(&table), ids(&old));
    assert_eq!(table.layouts, old.layouts);
    assert!(cache.current().table("public", "t").is_none());
    assert_eq!(cache.current().table("public", "u").unwrap().oid, oid);
    let taken = change(&cache, |draft| draft.rename_column(oid, "key", "a", &[])).await.unwrap_err();
    assert_eq!(taken, CatalogError::DuplicateColumn { table: "u".into(), column: "a".into() });
    create(&cache, new_table("t")).await.unwrap();
    let taken = change(&cache, |draft| draft.rename_table(oid, "t", &[])).await.unwrap_err();
    assert_eq!(taken, CatalogError::DuplicateTable { name: "t".into() });
}

#[tokio::test]
async fn defaults_and_not_null_can_be_set_and_taken_away() {
    let (cache, oid) = table_t().await;
    let table = change(&cache, |draft| {
        draft.set_default(oid, "a", Some(NewDefault { text: "7".into(), ..NewDefault::default() }))
    })
    .await
    .unwrap();
    assert_eq!(table.column_by_name("a").unwrap().default.as_deref(), Some("7"));
    assert!(matches!(table.column_by_name("a").unwrap().missing, Datum::Null), "rows written before keep their NULL");
    let table = change(&cache, |draft| draft.set_default(oid, "a", None)).await.unwrap();
    assert_eq!(table.column_by_name("a").unwrap().default, None);
    let table = change(&cache, |draft| draft.set_not_null(oid, "a")).await.unwrap();
    assert!(table.column_by_name("a").unwrap().not_null);
    let table = change(&cache, |draft| draft.drop_not_null(oid, "a")).await.unwrap();
    assert!(!table.column_by_name("a").unwrap().not_null);
    let missing = change(&cache, |draft| draft.set_default(oid, "z", None)).await.unwrap_err();
    assert_eq!(missing, CatalogError::NoSuchColumn { table: "t".into(), column: "z".into() });
}

#[tokio::test]
async fn properties_are_set_and_reset_by_name() {
    let (cache, oid) = table_t().await;
    let set = |name: &str, value: Option<&str>| BTreeMap::from([(name.to_string(), value.map(str::to_string))]);
    let changes = set("TTL", Some("FOREVER"));
    let table = change(&cache, |draft| draft.set_properties(oid, &changes)).await.unwrap();
    assert_eq!(table.properties, BTreeMap::from([("ttl".to_string(), "forever".to_string())]));
    let changes = set("ttl", None);
    let table = change(&cache, |draft| draft.set_properties(oid, &changes)).await.unwrap();
    assert!(table.properties.is_empty());
    let changes = set("salt_buckets", Some("4"));
    let refused = change(&cache, |draft| draft.set_properties(oid, &changes)).await;
    assert!(matches!(refused, Err(CatalogError::Unsupported { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_table_holds_1600_columns_and_no_more() {
    let cache = open(&new_store()).await;
    let mut new = NewTable::new("public", "wide");
    new.columns = (0..MAX_COLUMNS).map(|n| column(&format!("c{n}"), DataType::Integer)).collect();
    let mut too_wide = new.clone();
    too_wide.columns.push(column("one_more", DataType::Integer));
    let refused = create(&cache, too_wide).await.unwrap_err();
    assert_eq!(refused, CatalogError::TooManyColumns { limit: 1600 });
    let wide = create(&cache, new).await.unwrap();
    let more = change(&cache, |draft| draft.add_column(wide.oid, column("d", DataType::Integer), Datum::Null)).await;
    assert_eq!(more.unwrap_err(), CatalogError::TooManyColumns { limit: 1600 });
}
