//! Creating and dropping schemas and tables.

use crate::world::{create, names, new_store, new_table, open};
use catalog::{CatalogError, FIRST_USER_OID, NewTable, PUBLIC_SCHEMA_ID, ROW_ID_COLUMN};
use std::collections::BTreeSet;
use std::sync::Arc;
use store::{KeyRange, Store};
use types::{DataType, Datum};

fn path(schemas: &[&str]) -> Vec<String> {
    schemas.iter().map(|name| (*name).to_string()).collect()
}

async fn borders(store: &Arc<dyn Store>, table: &catalog::Table) -> Vec<Vec<u8>> {
    let regions = store.regions(table.storage_id()).await.unwrap();
    assert_eq!(regions.first().unwrap().range.start, KeyRange::all().start);
    regions.iter().skip(1).map(|region| region.range.start.to_vec()).collect()
}

#[tokio::test]
async fn a_new_database_has_the_schema_public_and_nothing_in_it() {
    let cache = open(&new_store()).await;
    let catalog = cache.current();
    assert_eq!(catalog.schemas().map(|schema| schema.name.as_str()).collect::<Vec<_>>(), ["public"]);
    assert_eq!(catalog.schema("public").unwrap().id, PUBLIC_SCHEMA_ID);
    assert_eq!(catalog.tables().count(), 0);
}

#[tokio::test]
async fn a_table_is_found_by_name_by_oid_and_by_search_path() {
    let cache = open(&new_store()).await;
    cache.change(|draft| draft.create_schema("s").map(|_| ())).await.unwrap();
    let in_public = create(&cache, new_table("t")).await.unwrap();
    let in_s = create(&cache, NewTable { schema: "s".into(), ..new_table("t") }).await.unwrap();
    let catalog = cache.current();
    let oid = |schemas: &[&str], schema| catalog.resolve(&path(schemas), schema, "t").map(|table| table.oid);
    assert_eq!(oid(&["public", "s"], None), Some(in_public.oid));
    assert_eq!(oid(&["missing", "s", "public"], None), Some(in_s.oid));
    assert_eq!(oid(&["public"], Some("s")), Some(in_s.oid));
    assert_eq!(oid(&["missing"], None), None);
    assert_eq!(catalog.table_by_oid(in_s.oid).unwrap().schema, catalog.schema("s").unwrap().id);
    assert_eq!(catalog.schema_name(&in_s), "s");
    assert!(in_public.oid.0 >= FIRST_USER_OID && in_public.key_oid.unwrap() >= FIRST_USER_OID);
    let oids = [in_public.oid.0, in_public.key_oid.unwrap(), in_s.oid.0, in_s.key_oid.unwrap()];
    assert_eq!(BTreeSet::from(oids).len(), 4, "oids are unique over all kinds of objects");
    let error = catalog.must_get_table("public", "u").unwrap_err();
    assert_eq!(error.to_string(), "relation \"public.u\" does not exist");
    let error = catalog.must_resolve(&path(&["public"]), None, "u").unwrap_err();
    assert_eq!(error.to_string(), "relation \"u\" does not exist");
}

#[tokio::test]
async fn a_table_knows_its_key_its_values_and_its_layout() {
    let cache = open(&new_store()).await;
    let table = create(&cache, new_table("t")).await.unwrap();
    assert_eq!(names(table.key_columns()), ["k1", "k2"]);
    assert_eq!(names(table.value_columns()), ["a", "b"]);
    assert_eq!(names(table.visible_columns()), ["k1", "k2", "a", "b"]);
    assert_eq!(table.key_position(table.column_by_name("k2").unwrap().id), Some(1));
    assert_eq!(table.key_position(table.column_by_name("a").unwrap().id), None);
    assert_eq!(table.key_name.as_deref(), Some("t_pkey"));
    let not_null: Vec<_> = table.columns.iter().map(|column| column.not_null).collect();
    assert_eq!(not_null, [true, true, false, false], "a key column is NOT NULL unless it says otherwise");
    let key = table.key_schema();
    assert_eq!(key.parts.iter().map(|part| part.ty).collect::<Vec<_>>(), [DataType::Integer, DataType::Text]);
    assert!(key.parts.iter().all(|part| !part.nullable && !part.descending && !part.nulls_first));
    let layout = table.current_layout_def().unwrap().to_layout();
    assert_eq!(layout.columns().iter().map(|c| c.width).collect::<Vec<_>>(), [Some(4), None]);
    assert_eq!(table.layout(layout.id()).unwrap().columns().len(), 2);
    assert!(table.layout(99).is_none());
}

#[tokio::test]
async fn a_table_without_a_key_has_a_hidden_row_id() {
    let cache = open(&new_store()).await;
    let table = create(&cache, NewTable { key: Vec::new(), ..new_table("t") }).await.unwrap();
    assert!(table.has_hidden_row_id());
    assert_eq!(names(table.visible_columns()), ["k1", "k2", "a", "b"]);
    assert_eq!(names(table.key_columns()), [ROW_ID_COLUMN]);
    assert_eq!(table.key_schema().parts[0].ty, DataType::BigInt);
    assert_eq!((table.key_name.as_deref(), table.key_oid), (None, None));
    assert_eq!(names(table.value_columns()), ["k1", "k2", "a", "b"]);
    for change in [ROW_ID_COLUMN, "nothing"] {
        let oid = table.oid;
        let refused = cache.change(|draft| draft.drop_column(oid, change, false).map(|_| ())).await;
        assert!(matches!(refused, Err(CatalogError::NoSuchColumn { .. })), "{refused:?}");
    }
}

#[tokio::test]
async fn regions_begin_at_salt_buckets_and_split_points() {
    let store = new_store();
    let cache = open(&store).await;
    let split = |n| vec![Datum::Int4(n)];
    let plain = NewTable { splits: vec![split(10), split(20)], ..new_table("plain") };
    let plain = create(&cache, plain).await.unwrap();
    let split_keys = borders(&store, &plain).await;
    assert_eq!(split_keys.len(), 2);
    assert!(split_keys[0] < split_keys[1]);
    let mut key = Vec::new();
    plain.key_schema().encode(&[Datum::Int4(10), Datum::Text(String::new())], &mut key).unwrap();
    assert!(key.starts_with(&split_keys[0]), "a split point is the beginning of the keys that it names");

    let salted = create(&cache, NewTable { salt_buckets: Some(3), ..new_table("salted") }).await.unwrap();
    assert_eq!(borders(&store, &salted).await, [vec![1], vec![2]]);
    assert_eq!(salted.key_schema().salt_buckets, Some(3));
    let both = NewTable { salt_buckets: Some(2), splits: vec![split(10)], ..new_table("both") };
    let both = create(&cache, both).await.unwrap();
    let bucket = |bucket: u8| [&[bucket], split_keys[0].as_slice()].concat();
    assert_eq!(borders(&store, &both).await, [bucket(0), vec![1], bucket(1)]);
    let widest = create(&cache, NewTable { salt_buckets: Some(256), ..new_table("widest") }).await.unwrap();
    assert_eq!(borders(&store, &widest).await.len(), 255);
}

#[tokio::test]
async fn truncate_gives_new_storage_with_the_same_borders() {
    let store = new_store();
    let cache = open(&store).await;
    let new = NewTable { salt_buckets: Some(4), splits: vec![vec![Datum::Int4(5)]], ..new_table("t") };
    let before = create(&cache, new).await.unwrap();
    let old_borders = borders(&store, &before).await;
    let oid = before.oid;
    let after = cache.change(|draft| draft.truncate(oid)).await.unwrap();
    assert_eq!(after.oid, before.oid);
    assert!(after.storage > before.storage && after.version > before.version);
    assert_eq!(borders(&store, &after).await, old_borders);
    assert!(store.regions(before.storage_id()).await.is_err(), "the old rows are gone");
}

#[tokio::test]
async fn a_dropped_table_is_gone_and_its_name_is_free_but_not_its_ids() {
    let store = new_store();
    let cache = open(&store).await;
    let old = create(&cache, new_table("t")).await.unwrap();
    assert!(matches!(create(&cache, new_table("t")).await, Err(CatalogError::DuplicateTable { name }) if name == "t"));
    let oid = old.oid;
    cache.change(|draft| draft.drop_table(oid)).await.unwrap();
    assert!(cache.current().table("public", "t").is_none() && cache.current().table_by_oid(oid).is_none());
    assert!(store.regions(old.storage_id()).await.is_err());
    let gone = cache.change(|draft| draft.drop_table(oid)).await;
    assert!(matches!(gone, Err(CatalogError::NoSuchTable { .. })));
    let new = create(&cache, new_table("t")).await.unwrap();
    assert!(new.oid > old.oid && new.storage > old.storage);
}

#[tokio::test]
async fn a_schema_with_tables_is_dropped_only_with_cascade() {
    let store = new_store();
    let cache = open(&store).await;
    cache.change(|draft| draft.create_schema("s").map(|_| ())).await.unwrap();
    let again = cache.change(|draft| draft.create_schema("s").map(|_| ())).await;
    assert_eq!(again, Err(CatalogError::DuplicateSchema { name: "s".into() }));
    let table = create(&cache, NewTable { schema: "s".into(), ..new_table("t") }).await.unwrap();
    let refused = cache.change(|draft| draft.drop_schema("s", false)).await;
    let dependents = vec!["table s.t".to_string()];
    assert_eq!(refused, Err(CatalogError::DependentObjects { what: "schema s".into(), dependents }));
    cache.change(|draft| draft.drop_schema("s", true)).await.unwrap();
    assert!(cache.current().schema("s").is_none() && cache.current().table_by_oid(table.oid).is_none());
    assert!(store.regions(table.storage_id()).await.is_err());
    let missing = cache.change(|draft| draft.drop_schema("s", true)).await;
    assert_eq!(missing, Err(CatalogError::NoSuchSchema { name: "s".into() }));
}

#[tokio::test]
async fn several_changes_are_one_version() {
    let cache = open(&new_store()).await;
    let before = cache.current();
    let made = cache.change(|draft| {
        draft.create_schema("s")?;
        let table = draft.create_table(NewTable { schema: "s".into(), ..new_table("t") })?;
        assert!(draft.catalog().table("s", "t").is_some(), "the draft holds what it has made");
        draft.rename_table(table.oid, "u", &[])
    });
    let made = made.await.unwrap();
    let after = cache.current();
    assert_eq!(after.version(), before.version() + 1);
    assert_eq!(made.version, after.version());
    assert!(after.table("s", "u").is_some() && after.table("s", "t").is_none());
    assert!(before.schema("s").is_none(), "a catalog that a statement holds never changes");
}

#[tokio::test]
async fn what_is_made_and_dropped_in_one_change_never_reaches_the_store() {
    let store = new_store();
    let cache = open(&store).await;
    let table = cache.change(|draft| {
        let table = draft.create_table(new_table("t"))?;
        draft.drop_table(table.oid)?;
        Ok(table)
    });
    assert!(store.regions(table.await.unwrap().storage_id()).await.is_err());
    assert_eq!(cache.current().tables().count(), 0);
}

#[tokio::test]
async fn a_change_that_fails_or_does_nothing_leaves_the_version_alone() {
    let cache = open(&new_store()).await;
    let before = cache.version();
    cache.change(|draft| Ok(draft.catalog().table("public", "t").is_none())).await.unwrap();
    let failed = cache.change(|draft| {
        draft.create_table(new_table("t"))?;
        draft.create_table(new_table("t"))
    });
    assert!(matches!(failed.await, Err(CatalogError::DuplicateTable { .. })));
    assert_eq!(cache.version(), before);
    assert_eq!(cache.current().tables().count(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_changes_take_turns() {
    let store = new_store();
    let cache = open(&store).await;
    let tasks: Vec<_> = (0..20)
        .map(|n| {
            let cache = Arc::clone(&cache);
            tokio::spawn(async move {
                let shared = create(&cache, new_table("shared")).await.is_ok();
                (create(&cache, new_table(&format!("t{n}"))).await.unwrap().oid, shared)
            })
        })
        .collect();
    let (mut oids, mut shared) = (BTreeSet::new(), 0);
    for task in tasks {
        let (oid, made) = task.await.unwrap();
        oids.insert(oid);
        shared += usize::from(made);
    }
    assert_eq!((oids.len(), shared), (20, 1), "one of them made the table that all wanted");
    assert_eq!(cache.current().tables().count(), 21);
    assert_eq!(open(&store).await.current().tables().count(), 21);
}
