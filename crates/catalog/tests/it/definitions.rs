//! Invalid definitions, and the error of each.

use crate::world::{column, create, new_store, new_table, open};
use catalog::{CatalogError, NewColumn, NewKeyPart, NewTable};
use types::{DataType, Datum};

async fn refused(new: NewTable) -> CatalogError {
    let cache = open(&new_store()).await;
    let error = create(&cache, new).await.unwrap_err();
    assert_eq!(cache.current().tables().count(), 0);
    error
}

#[tokio::test]
async fn reserved_names_are_refused() {
    let cache = open(&new_store()).await;
    for name in ["pg_catalog", "pg_mine", "information_schema"] {
        for drop in [false, true] {
            let change =
                cache.change(
                    |draft| {
                        if drop { draft.drop_schema(name, true) } else { draft.create_schema(name).map(|_| ()) }
                    },
                );
            let error = change.await.unwrap_err();
            let missing = drop && name == "pg_mine";
            assert_eq!(matches!(error, CatalogError::NoSuchSchema { .. }), missing, "{error}");
            assert_eq!(matches!(error, CatalogError::ReservedName { what: "schema", .. }), !missing, "{error}");
        }
    }
    let error = refused(NewTable { schema: "pg_catalog".into(), ..new_table("t") }).await;
    assert!(matches!(error, CatalogError::ReservedName { .. }), "{error}");
    let error = refused(NewTable { schema: "nowhere".into(), ..new_table("t") }).await;
    assert_eq!(error, CatalogError::NoSuchSchema { name: "nowhere".into() });
    let mut new = new_table("t");
    new.columns.push(column("_bennu_rowid", DataType::BigInt));
    assert!(matches!(refused(new).await, CatalogError::ReservedName { what: "column", .. }));
}

#[tokio::test]
async fn columns_are_named_once() {
    let mut new = new_table("t");
    new.columns.push(column("a", DataType::Text));
    assert_eq!(refused(new).await, CatalogError::ColumnTwice { column: "a".into() });
}

#[tokio::test]
async fn a_key_names_columns_of_the_table_and_each_once() {
    let key = |names: &[&str]| names.iter().map(|name| NewKeyPart::ascending(*name)).collect::<Vec<_>>();
    let error = refused(NewTable { key: key(&["k1", "z"]), ..new_table("t") }).await;
    assert_eq!(error, CatalogError::NoSuchColumn { table: "t".into(), column: "z".into() });
    let error = refused(NewTable { key: key(&["k1", "k2", "k1"]), ..new_table("t") }).await;
    assert_eq!(error, CatalogError::DuplicateKeyColumn { column: "k1".into() });
}

#[tokio::test]
async fn a_key_column_has_no_family() {
    let mut new = new_table("t");
    new.columns[0].family = Some("cf".into());
    let error = refused(new).await;
    assert!(error.to_string().contains("key column \"k1\""), "{error}");
}

#[tokio::test]
async fn a_key_column_that_is_declared_null_is_nullable_with_the_null_order_of_its_direction() {
    let cache = open(&new_store()).await;
    let mut new = new_table("t");
    new.columns[0] = NewColumn { not_null: Some(false), ..column("k1", DataType::Integer) };
    new.key[0].descending = true;
    let key = create(&cache, new).await.unwrap().key_schema();
    assert!(key.parts[0].nullable && key.parts[0].descending && key.parts[0].nulls_first);
    assert!(!key.parts[1].nullable && !key.parts[1].nulls_first);
    let mut new = new_table("u");
    new.columns[0].not_null = Some(false);
    new.key[0].nulls_first = Some(true);
    let key = create(&cache, new).await.unwrap().key_schema();
    assert!(key.parts[0].nulls_first && !key.parts[0].descending);
}

#[tokio::test]
async fn salt_buckets_are_2_to_256() {
    for given in [1, 257, 1000] {
        let error = refused(NewTable { salt_buckets: Some(given), ..new_table("t") }).await;
        assert_eq!(error, CatalogError::InvalidSalt { given: given.to_string() });
    }
    let cache = open(&new_store()).await;
    let properties = [("SALT_BUCKETS".to_string(), "16".to_string())].into();
    let table = create(&cache, NewTable { properties, ..new_table("t") }).await.unwrap();
    assert_eq!(table.salt_buckets, Some(16));
    assert!(table.properties.is_empty());
}

#[tokio::test]
async fn split_points_are_keys_in_ascending_order() {
    let int = |n| vec![Datum::Int4(n)];
    for (splits, number, about) in [
        (vec![int(2), int(1)], 2, "key order"),
        (vec![int(1), int(1)], 2, "key order"),
        (vec![int(1), vec![]], 2, "0 values"),
        (vec![vec![Datum::Int4(1), Datum::Text("x".into()), Datum::Int4(1)]], 1, "3 values"),
        (vec![vec![Datum::Null]], 1, "NULL"),
        (vec![vec![Datum::Bool(true)]], 1, "boolean"),
        (vec![vec![Datum::Int8(1 << 40)]], 1, "out of range"),
    ] {
        let error = refused(NewTable { splits, ..new_table("t") }).await;
        let CatalogError::InvalidSplit { number: found, reason, .. } = &error else { panic!("{error}") };
        assert_eq!(*found, number);
        assert!(reason.contains(about), "{reason}");
    }
    // Descending keys sort from large to small.
    let mut new = NewTable { splits: vec![int(2), int(1)], ..new_table("t") };
    new.key[0].descending = true;
    let cache = open(&new_store()).await;
    assert_eq!(create(&cache, new).await.unwrap().splits.len(), 2);
    let error = refused(NewTable { key: Vec::new(), splits: vec![int(1)], ..new_table("t") }).await;
    assert!(matches!(error, CatalogError::InvalidTable { .. }), "{error}");
}

#[tokio::test]
async fn properties_that_do_not_exist_are_named() {
    let properties = [("colour".to_string(), "red".to_string())].into();
    let error = refused(NewTable { properties, ..new_table("t") }).await;
    assert_eq!(error, CatalogError::UnknownProperty { name: "colour".into() });
}
